/**
 * `npm run test:browser`: the page, and pages of other origins, in a headless Chromium and Firefox.
 * They are Debian's `chromium` and `firefox-esr`, unless CHROMIUM and FIREFOX name others.
 * SCREENSHOTS=DIR keeps pictures of the page.
 *
 * The last line is `N passed, N failed`. Arguments go to vitest.
 */
import { conclude, runVitest } from './lib/run-tests.ts';

conclude([await runVitest(['--config', 'vitest.browser.config.ts', ...process.argv.slice(2)])]);
