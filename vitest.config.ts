/**
 * Three projects: `*.worker.test.ts` runs in workerd with the bindings of wrangler.toml, `e2e/` runs
 * whole Workers over HTTP, everything else runs in Node.
 */
import { availableParallelism } from 'node:os';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Wrangler makes a text module of `*.html`. In Node, Vite must do so. */
const htmlAsText = {
  name: 'html-as-text',
  enforce: 'pre' as const,
  transform: (text: string, file: string) =>
    file.endsWith('.html') ? `export default ${JSON.stringify(text)}` : null,
};

/** Generous, as the machine may be busy with something else. In milliseconds. */
const timeouts = { testTimeout: 120_000, hookTimeout: 120_000 };

/** Files at once, in all projects: one of them mostly waits (see below). */
const AT_ONCE = availableParallelism() + 1;

/** Of other files, between two of the end-to-end tests. */
const FILES_BETWEEN = 8;

/**
 * End-to-end tests mostly wait for the follower, which looks for a milestone once a second. So they
 * are spread among the others, which use the time. Of the others those of a project are together:
 * vitest goes on in the same process if the next file in line is of the same project.
 */
class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isEndToEnd = ({ project }: TestSpecification) => project.name === 'e2e';
    const [first, second, ...endToEnd] = sorted.filter(isEndToEnd);
    const inNode = ({ project }: TestSpecification) => Number(project.name === 'node');
    const others = sorted.filter((file) => !isEndToEnd(file)).sort((a, b) => inNode(a) - inNode(b));
    const spread = [first, second];
    while (others.length > 0) spread.push(...others.splice(0, FILES_BETWEEN), endToEnd.shift());
    return [...spread, ...endToEnd].filter((file) => file !== undefined);
  }
}

const WORKER_TESTS = 'test/**/*.worker.test.ts';
const END_TO_END_TESTS = 'test/e2e/**/*.test.ts';

export default defineConfig(async () => ({
  test: {
    // every request writes a line of log, which is shown only if a test fails
    silent: 'passed-only' as const,
    sequence: { sequencer: ByProject },
    projects: [
      {
        plugins: [htmlAsText],
        test: {
          ...timeouts,
          name: 'node',
          // no test leaves anything behind that another one sees, and starting anew takes a second
          isolate: false,
          maxWorkers: AT_ONCE,
          include: ['test/**/*.test.ts'],
          exclude: [WORKER_TESTS, END_TO_END_TESTS],
        },
      },
      {
        test: {
          ...timeouts,
          name: 'e2e',
          include: [END_TO_END_TESTS],
          maxWorkers: AT_ONCE,
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
          // the set-up below empties what files before have filled
          isolate: false,
          maxWorkers: AT_ONCE,
          include: [WORKER_TESTS],
          setupFiles: ['./test/support/workerd-setup.ts'],
        },
      },
    ],
  },
}));
