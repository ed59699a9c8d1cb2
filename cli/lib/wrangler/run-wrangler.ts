/**
 * Runs wrangler.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from '../project.ts';

export const WRANGLER = join(PROJECT, 'node_modules', 'wrangler', 'wrangler-dist', 'cli.js');

/** With these variables wrangler writes nothing outside the project, and knows no login. */
export const WITHIN_PROJECT = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_LOG_PATH: join(PROJECT, '.wrangler', 'logs'),
  XDG_CONFIG_HOME: join(PROJECT, '.wrangler', 'config'),
  XDG_CACHE_HOME: join(PROJECT, '.wrangler', 'cache'),
};

/**
 * Runs wrangler and returns what it prints. Throws an Error that quotes its output if it fails.
 *
 * @param env variables of its environment, besides those of this process
 */
export type RunWrangler = (
  args: readonly string[],
  env?: Record<string, string>,
) => Promise<string>;

/** More than wrangler ever prints. */
const MAX_OUTPUT_BYTES = 1 << 24;

export const runWrangler: RunWrangler = async (args, env = {}) => {
  requireWrangler();
  // without a terminal wrangler asks no questions
  const running = promisify(execFile)(process.execPath, ['--no-warnings', WRANGLER, ...args], {
    cwd: PROJECT,
    env: { ...process.env, ...env },
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  running.child.stdin?.end();
  try {
    return (await running).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`wrangler ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
};

/** Throws an Error with a sentence where npm has left it out, as it does with NODE_ENV=production. */
export function requireWrangler(): void {
  if (!existsSync(WRANGLER)) throw new Error('wrangler is not installed: run npm ci --include=dev');
}

/** Runs statements on the deployed database. Returns the rows of each. */
export async function queryRemotely(
  run: RunWrangler,
  databaseName: string,
  sql: string,
): Promise<Record<string, unknown>[][]> {
  const args = ['d1', 'execute', databaseName, '--remote', '--yes', '--json', '--command', sql];
  const answers = JSON.parse(await run(args)) as { results: Record<string, unknown>[] }[];
  return answers.map(({ results }) => results);
}

/** Of a namespace, before whose name wrangler would put the environment. */
const CREATE_NAMESPACE = 'kv namespace create';

/** Adds the environment of wrangler.toml to every call; empty: the top of the file. */
export function inEnvironment(environment: string, run: RunWrangler = runWrangler): RunWrangler {
  return (args, env) => {
    const isNamed = args.slice(0, 3).join(' ') === CREATE_NAMESPACE;
    return run([...args, `--env=${isNamed ? '' : environment}`], env);
  };
}
