/**
 * Three projects: `*.worker.test.ts` runs in workerd with the bindings of wrangler.toml, `e2e/` runs
 * after all others, everything else runs in Node.
 */
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';

/** Wrangler makes a text module of `*.html`. In Node, Vite must do so. */
const htmlAsText = {
  name: 'html-as-text',
  enforce: 'pre' as const,
  transform: (text: string, file: string) =>
    file.endsWith('.html') ? `export default ${JSON.stringify(text)}` : null,
};

/** Generous, as the machine may be busy with something else. In milliseconds. */
const timeouts = { testTimeout: 120_000, hookTimeout: 120_000 };

/** As many as there are cores. Vitest's default leaves one core to itself, which needs little. */
const ALL_CORES = '100%';

const WORKER_TESTS = 'test/**/*.worker.test.ts';
const END_TO_END_TESTS = 'test/e2e/**/*.test.ts';

export default defineConfig(async () => ({
  test: {
    // every request writes a line of log, which is shown only if a test fails
    silent: 'passed-only' as const,
    projects: [
      {
        plugins: [htmlAsText],
        test: {
          ...timeouts,
          name: 'node',
          maxWorkers: ALL_CORES,
          include: ['test/**/*.test.ts'],
          exclude: [WORKER_TESTS, END_TO_END_TESTS],
        },
      },
      {
        // After the others, as in these tests the Worker has to answer in time. Three at once, as
        // they mostly wait for the follower, which looks for a milestone once a second.
        test: {
          ...timeouts,
          name: 'e2e',
          include: [END_TO_END_TESTS],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          globalSetup: './test/support/edge/build-once.ts',
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
          maxWorkers: ALL_CORES,
          include: [WORKER_TESTS],
          setupFiles: ['./test/support/workerd-setup.ts'],
        },
      },
    ],
  },
}));
