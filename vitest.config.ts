/**
 * Three projects: `*.worker.test.ts` runs in workerd with the bindings of wrangler.toml, `e2e/` after all others, everything else in Node.
 */
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';

/** Wrangler makes a text module of `*.html`; in Node, Vite must. */
const htmlAsText = {
  name: 'html-as-text',
  enforce: 'pre' as const,
  transform: (text: string, file: string) =>
    file.endsWith('.html') ? `export default ${JSON.stringify(text)}` : null,
};

/** Milliseconds; generous, as the machine may be busy with something else. */
const timeouts = { testTimeout: 120_000, hookTimeout: 120_000 };

const WORKER_TESTS = 'test/**/*.worker.test.ts';
const END_TO_END_TESTS = 'test/e2e/**/*.test.ts';

export default defineConfig(async () => ({
  test: {
    // every request writes a line of log: shown where a test fails
    silent: 'passed-only' as const,
    projects: [
      {
        plugins: [htmlAsText],
        test: {
          ...timeouts,
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: [WORKER_TESTS, END_TO_END_TESTS],
        },
      },
      {
        // one after the other and by themselves: in them the Worker has to answer in time
        test: {
          ...timeouts,
          name: 'e2e',
          include: [END_TO_END_TESTS],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: { bindings: { TEST_MIGRATIONS: await readD1Migrations('migrations') } },
          }),
        ],
        test: {
          ...timeouts,
          name: 'workerd',
          include: [WORKER_TESTS],
          setupFiles: ['./test/support/workerd-setup.ts'],
        },
      },
    ],
  },
}));
