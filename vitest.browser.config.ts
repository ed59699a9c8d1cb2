/**
 * The tests in a browser, `npm run test:browser`. They need browsers, so `npm test` goes without them.
 */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'browser',
    include: ['test/browser/**/*.spec.ts'],
    silent: 'passed-only',
    // a page may take its time on a busy machine
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
