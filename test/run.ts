/**
 * `npm test`: typecheck, lint, and all tests except those in browsers and the long ones; and
 * `npm run test:browser`, those in browsers: the explorer, and pages of other origins.
 */

import { runMain } from '../cli/lib/process/command-line.ts';
import { type Count, conclude, run, runVitest } from './support/run-tests.ts';

const USAGE = `Usage: npm test -- [ARGUMENTS OF VITEST]

Runs typecheck, lint and all tests except those in browsers (npm run test:browser) and the long ones
(npm run test:slow). The last line is "N passed, N failed"; exit code 1 if any failed.

Names of test files run only those. Faster still, without typecheck and lint:

  node tools/run.js vitest run test/stardust       tests in Node whose paths contain this
  node tools/run.js vitest run --project workerd   all tests in workerd; or node, e2e`;

const BROWSER_USAGE = `Usage: npm run test:browser -- [ARGUMENTS OF VITEST]

Runs the tests in headless Chromium and Firefox: the explorer, and requests from other origins.
The last line is "N passed, N failed"; exit code 1 if any failed.

Environment:
  CHROMIUM, FIREFOX   paths of the browsers; default: Debian's chromium and firefox-esr
  UPDATE_PICTURES=1   write the pictures that views are compared with (test/browser/pictures)
  SLOW=1              each answer comes up to 800 ms late, and Chromium's CPU is four times slower`;

/** A command that passes or fails as a whole. */
async function runCheck(script: string): Promise<Count> {
  const passed = (await run('npm', ['run', '--silent', script])) === 0;
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function runAll(args: readonly string[]): Promise<number> {
  const checks = await Promise.all([runCheck('typecheck'), runCheck('lint')]);
  const counts = [...checks, await runVitest(args)];
  console.log(`
Typecheck and lint count as one test each. Left out: npm run test:browser, npm run test:slow.`);
  return conclude(counts);
}

const isBrowser = process.argv[2] === '--browser';
await runMain(isBrowser ? BROWSER_USAGE : USAGE, async (args) =>
  isBrowser
    ? conclude([await runVitest(['--config', 'vitest.browser.config.ts', ...args.slice(1)])])
    : await runAll(args),
);
