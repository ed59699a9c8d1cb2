/**
 * `npm test`: typecheck, lint, and all tests but those in browsers and the long ones.
 */
import { type Count, conclude, run, runVitest } from '../test/support/run-tests.ts';
import { runMain } from './lib/process/command-line.ts';

const USAGE = `Usage: npm test -- [ARGUMENTS OF VITEST]

Runs typecheck, lint and all tests but those in browsers (npm run test:browser) and the long ones
(npm run test:slow). The last line is "N passed, N failed"; exit code 1 if any failed.

Names of test files run only those. Faster still, without typecheck and lint:

  npx vitest run test/stardust           tests in Node whose paths contain this
  npx vitest run --project workerd       all tests in workerd; the projects are node, workerd, e2e`;

/** A command that passes or fails as a whole. */
async function runCheck(script: string): Promise<Count> {
  const passed = (await run('npm', ['run', '--silent', script])) === 0;
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

await runMain(USAGE, async (args) => {
  const checks = await Promise.all([runCheck('typecheck'), runCheck('lint')]);
  const counts = [...checks, await runVitest(args)];
  console.log(`
Typecheck and lint count as one test each. Left out: npm run test:browser, npm run test:slow.`);
  return conclude(counts);
});
