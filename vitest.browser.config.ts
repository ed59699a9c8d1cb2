/**
 * The tests in a browser, `npm run test:browser`. They need browsers, so `npm test` goes without them.
 */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'browser',
    include: ['test/browser/**/*.spec.ts'],
    globalSetup: './test/support/browser/serve-once.ts',
    // files wait for their browsers while other ones work
    maxWorkers: 3,
    silent: 'passed-only',
    // a page may take its time on a busy machine
    testTimeout: 180_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
