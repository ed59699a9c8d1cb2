/**
 * Runs tests and counts them, for `npm test` and its like: the last line that they print is
 * `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT } from '../../cli/lib/project.ts';
import { findProgram } from '../../cli/lib/runtime.js';

export interface Count {
  passed: number;
  failed: number;
}

/** What is read of vitest's JSON report, which has the form of Jest's. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  /** One for each file. A file that could not be loaded has no results. */
  testResults: { name: string; status: string; assertionResults: unknown[] }[];
}

/**
 * Where Node keeps what it has compiled. Tests start wrangler and miniflare again and again, which
 * costs a third less so.
 */
const COMPILE_CACHE = join(PROJECT, 'node_modules', '.cache', 'compiled');

/** Runs a command, whose output goes where ours goes. Resolves to its exit code. */
export function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<number> {
  console.log(`\n> ${[command, ...args].join(' ')}`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: PROJECT,
      env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Runs vitest with these arguments and counts the tests of its report. */
export async function runVitest(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Count> {
  const folder = mkdtempSync(join(tmpdir(), 'stardust-test-'));
  try {
    const path = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`];
    const vitest = findProgram('vitest', 'vitest')!;
    const code = await run(process.execPath, [vitest, 'run', ...reporters, ...args], env);
    const count = existsSync(path)
      ? countTests(JSON.parse(readFileSync(path, 'utf8')) as Report)
      : { passed: 0, failed: 0 };
    // an error outside of tests fails the run, but no test
    return code !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function countTests({ numPassedTests, numFailedTests, testResults }: Report): Count {
  const unloaded = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  return { passed: numPassedTests, failed: numFailedTests + unloaded.length };
}

/** Prints the closing line, `N passed, N failed`. Returns the exit code. */
export function conclude(counts: readonly Count[]): number {
  const passed = counts.reduce((sum, count) => sum + count.passed, 0);
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
