/**
 * Calling wrangler for what it alone can do: reach the deployed databases.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from './wrangler-config.ts';

export const WRANGLER = join(PROJECT, 'node_modules', 'wrangler', 'wrangler-dist', 'cli.js');

/** Runs wrangler with these arguments and returns what it prints; rejects with an Error that quotes it when it fails. */
export type RunWrangler = (args: readonly string[]) => Promise<string>;

/** Characters of its output that are kept, far more than it prints. */
const MAX_OUTPUT = 1 << 24;

export const runWrangler: RunWrangler = async (args) => {
  // without a terminal it asks nothing
  const running = promisify(execFile)(process.execPath, ['--no-warnings', WRANGLER, ...args], {
    cwd: PROJECT,
    maxBuffer: MAX_OUTPUT,
  });
  running.child.stdin?.end();
  try {
    return (await running).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`wrangler ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
};
