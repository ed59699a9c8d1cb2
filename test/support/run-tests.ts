/**
 * Running tests and counting them.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT } from '../../scripts/lib/project.ts';

export interface Count {
  passed: number;
  failed: number;
}

/** What is read of vitest's JSON report, which is Jest's. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  /** One for each file; without results where it could not be loaded. */
  testResults: { name: string; status: string; assertionResults: unknown[] }[];
}

/** Runs a command that writes where we write; resolves to its exit code. */
export function run(command: string, ...args: string[]): Promise<number> {
  console.log(`\n> ${[command, ...args].join(' ')}`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: PROJECT, stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

export async function runVitest(args: string[]): Promise<Count> {
  const folder = mkdtempSync(join(tmpdir(), 'stardust-test-'));
  try {
    const path = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`];
    const code = await run('vitest', 'run', ...reporters, ...args);
    const count = existsSync(path)
      ? countTests(JSON.parse(readFileSync(path, 'utf8')) as Report)
      : { passed: 0, failed: 0 };
    // an error outside of tests fails the run and no test
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

/** Prints the closing line, `N passed, N failed`, and sets the exit code. */
export function conclude(counts: readonly Count[]): void {
  const passed = counts.reduce((sum, count) => sum + count.passed, 0);
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
