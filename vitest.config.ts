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

/** Files at once, in all projects: one or two of them mostly wait (see below). */
const AT_ONCE = availableParallelism() + 2;

/** Tests that mostly wait: for the follower, which looks once a second, or for a feed to come back. */
const WAITING = /^e2e |\/feed\/(keep-feed|pushed)\.test/;

/** The longest of them. */
const FIRST = /networks\.test/;

/** They are spread over this part of the others, as at the end nothing would use the time. */
const PART = 0.8;

/**
 * Tests that wait are spread among the others, which use the time. Of the others those of a project
 * are together: vitest goes on in the same process if the next file in line is of the same project.
 */
class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const nameOf = ({ project, moduleId }: TestSpecification) => `${project.name} ${moduleId}`;
    const isFirst = (file: TestSpecification) => Number(FIRST.test(nameOf(file)));
    const isInNode = ({ project }: TestSpecification) => Number(project.name === 'node');
    const waiting = sorted
      .filter((file) => WAITING.test(nameOf(file)))
      .sort((a, b) => isFirst(b) - isFirst(a));
    const others = sorted
      .filter((file) => !waiting.includes(file))
      .sort((a, b) => isInNode(a) - isInNode(b));
    // a file takes twice as long in workerd
    const lengthOf = (file: TestSpecification) => 2 - isInNode(file);
    const length = PART * others.reduce((sum, file) => sum + lengthOf(file), 0);
    const spread: TestSpecification[] = [];
    let [passed, placed] = [0, 0];
    for (const file of others) {
      const due = Math.min(waiting.length, 1 + (passed * waiting.length) / length);
      while (placed + 1 <= due) spread.push(waiting[placed++]!);
      spread.push(file);
      passed += lengthOf(file);
    }
    return [...spread, ...waiting.slice(placed)];
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
