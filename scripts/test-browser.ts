/**
 * `npm run test:browser`: the page, and pages of other origins, in headless browsers.
 */
import { conclude, runVitest } from '../test/support/run-tests.ts';
import { runMain } from './lib/process/command-line.ts';

const USAGE = `Usage: npm run test:browser -- [ARGUMENTS OF VITEST]

Runs the tests in headless Chromium and Firefox: the page, and requests from other origins.
The last line is "N passed, N failed"; exit code 1 if any failed.

Environment:
  CHROMIUM, FIREFOX   paths of the browsers; default: Debian's chromium and firefox-esr
  SCREENSHOTS=DIR     keep pictures of the page there`;

await runMain(USAGE, async (args) =>
  conclude([await runVitest(['--config', 'vitest.browser.config.ts', ...args])]),
);
