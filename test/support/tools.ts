/**
 * Tools of the system that some tests need beside Node. Without one its tests are skipped. Not so
 * where REQUIRE_TOOLS is set, as in continuous integration, which installs all of them.
 */
import { spawnSync } from 'node:child_process';

type Tool = 'curl' | 'promtool' | 'python3' | 'systemd-analyze' | 'systemd-notify';

/** Throws an Error where there is no such tool and REQUIRE_TOOLS is set. */
export function hasTool(name: Tool): boolean {
  const isThere = spawnSync('sh', ['-c', 'command -v "$0"', name]).status === 0;
  if (!isThere && process.env.REQUIRE_TOOLS)
    throw new Error(`${name} is not installed, and its tests must not be skipped (REQUIRE_TOOLS)`);
  return isThere;
}
