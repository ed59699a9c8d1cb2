/**
 * `npm test`: typecheck, lint and all tests but the one in a browser. The last line is `N passed, N
 * failed`, the exit code 0 only if none failed.
 *
 * Arguments go to vitest: names of test files to run only those.
 */
import { type Count, conclude, run, runVitest } from '../test/support/run-tests.ts';

/** A command that passes or fails as a whole. */
async function runCheck(script: string): Promise<Count> {
  const code = await run('npm', 'run', '--silent', script);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

const counts = [
  await runCheck('typecheck'),
  await runCheck('lint'),
  await runVitest(process.argv.slice(2)),
];
console.log(
  '\nTypecheck and lint count as one test each. The tests in browsers are left out: npm run test:browser.',
);
conclude(counts);
