/**
 * Tools of the system that some tests need beside Node. Without one its tests are skipped, and a line
 * says so. Not so where REQUIRE_TOOLS is set, as in continuous integration, which installs all of
 * them.
 */
import { spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';

type Tool =
  | 'caddy'
  | 'curl'
  | 'haproxy'
  | 'nginx'
  | 'promtool'
  | 'python3'
  | 'systemd-analyze'
  | 'systemd-notify';

const told = new Set<string>();

/** Prints it once in each process, past vitest, which shows only what failed tests print. */
export function tellSkipped(sentence: string): void {
  if (!told.has(sentence)) writeSync(2, `Skipped: ${sentence}\n`);
  told.add(sentence);
}

/** Throws an Error where there is no such tool and REQUIRE_TOOLS is set. */
export function hasTool(name: Tool): boolean {
  const isThere = spawnSync('sh', ['-c', 'command -v "$0"', name]).status === 0;
  if (!isThere && process.env.REQUIRE_TOOLS)
    throw new Error(`${name} is not installed, and its tests must not be skipped (REQUIRE_TOOLS)`);
  if (!isThere) tellSkipped(`${name} is not installed; what it would check is left out`);
  return isThere;
}
