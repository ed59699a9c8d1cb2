/**
 * `npm test`: typecheck, lint and all tests but the one in a browser. The last line is `N passed, N failed`, the exit code 0 only if none failed.
 *
 * Arguments go to vitest: names of test files to run only those.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Count {
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

const PROJECT = join(import.meta.dirname, '..');

/** Runs a command that writes where we write; resolves to its exit code. */
function run(command: string, ...args: string[]): Promise<number> {
  console.log(`\n> ${[command, ...args].join(' ')}`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: PROJECT, stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** A command that passes or fails as a whole. */
async function runCheck(script: string): Promise<Count> {
  const code = await run('npm', 'run', '--silent', script);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function runVitest(args: string[]): Promise<Count> {
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

const counts = [await runCheck('typecheck'), await runCheck('lint'), await runVitest(process.argv.slice(2))];
const passed = counts.reduce((sum, count) => sum + count.passed, 0);
const failed = counts.reduce((sum, count) => sum + count.failed, 0);
console.log('\nTypecheck and lint count as one test each. The test in a browser is left out: npm run test:browser.');
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
