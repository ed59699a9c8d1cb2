/**
 * `npm run test:browser`: the page in a headless Chromium, Debian's `chromium` unless CHROMIUM
 * names another. SCREENSHOTS=DIR keeps pictures of it.
 *
 * The last line is `N passed, N failed`. Arguments go to vitest.
 */
import { conclude, runVitest } from '../test/support/run-tests.ts';

conclude([await runVitest(['--config', 'vitest.browser.config.ts', ...process.argv.slice(2)])]);
