/**
 * Three projects: `*.worker.test.ts` runs in workerd with the bindings of wrangler.toml, `e2e/` and
 * `slow/` run whole Workers over HTTP, everything else runs in Node.
 */
import { availableParallelism } from 'node:os';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { writeExplorer } from './cli/lib/explorer/bundle-explorer.ts';

/** For what hangs; how busy the machine is must not decide a test. In milliseconds. */
const timeouts = { testTimeout: 600_000, hookTimeout: 600_000 };

/** Files at once, in all projects: one or two of them, those of `e2e`, mostly wait. */
const AT_ONCE = availableParallelism() + 2;

/**
 * End-to-end tests are spread among the others, which use the time in which they wait. The others
 * are by project: vitest goes on in the same process if the next file in line is of the same one.
 */
class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const of = (name: string) => sorted.filter(({ project }) => project.name === name);
    const waiting = of('e2e');
    const isFirst = ({ moduleId }: TestSpecification) =>
      FIRST_TESTS.some((name) => moduleId.endsWith(name));
    const inNode = of('node').sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
    const others = [...of('workerd'), ...inNode];
    // so that the last one begins long before the end
    const gap = Math.ceil((0.7 * others.length) / waiting.length);
    const spread = others.flatMap((file, i) =>
      i % gap === 0 ? [...waiting.splice(0, 1), file] : [file],
    );
    return [...spread, ...waiting];
  }
}

/**
 * The longest one, which as the last one would run alone; and those that fail where a timer of
 * another file still runs in their process.
 */
const FIRST_TESTS = ['simulator', 'platform/contract', 'alone', 'hanging'].map(
  (name) => `simulator/${name}.test.ts`,
);
const WORKER_TESTS = 'test/**/*.worker.test.ts';
const END_TO_END_TESTS = 'test/{e2e,slow}/**/*.test.ts';

/** What takes long: `npm run test:slow` alone runs it. */
const SLOW_TESTS = process.env.SLOW
  ? []
  : [
      'test/cli/{build,serve/serve-backup,import/import-remotely}.test.ts',
      'test/clients/{developers,nft-lists}.test.ts',
      'test/e2e/{chain,faults,feed,floods,hostile,import-while-serving,kills,lies,reads-at-once,serve,serve-disk,serve-load}.test.ts',
      'test/follower/{nearly-full,large-cone}.worker.test.ts',
      'test/http/{bad-requests.worker,core-worker}.test.ts',
      'test/ledger/intake/large-contents.test.ts',
      'test/modules/events/{broker-heap,fuzz.worker}.test.ts',
      'test/modules/histories/{nft-history,nft-history-cost}.worker.test.ts',
      'test/modules/proofs/large-faults.test.ts',
      'test/self/{hornet-double,networks}.test.ts',
      'test/simulator/set-back.test.ts',
      'test/slow/*.test.ts',
      'test/stardust/library/package.test.ts',
      'test/stardust/proof/tree-hash-allocation.test.ts',
      'test/stardust/verifier-mixes.test.ts',
      'test/whole/{flipped-columns,damage-carried-on}.test.ts',
      'test/whole/{large-rows,recorded-reads,repaired-ledger}.worker.test.ts',
    ];

/** The same random values in each run, except of the slow tests. */
const FIXED_CHANCE = process.env.SLOW ? [] : ['./test/support/fixed-chance.ts'];

export default defineConfig(async () => {
  // wrangler.toml names their folder, which must be there
  await writeExplorer();
  return {
    test: {
      // every request writes a line of log, which is shown only if a test fails
      silent: 'passed-only' as const,
      sequence: { sequencer: ByProject },
      projects: [
        {
          test: {
            ...timeouts,
            name: 'node',
            // no test leaves anything behind that another one sees, and starting anew takes a second
            isolate: false,
            maxWorkers: AT_ONCE,
            include: ['test/**/*.test.ts'],
            exclude: [WORKER_TESTS, END_TO_END_TESTS, ...SLOW_TESTS],
            setupFiles: ['./test/support/known-signatures.ts', ...FIXED_CHANCE],
          },
        },
        {
          test: {
            ...timeouts,
            name: 'e2e',
            include: [END_TO_END_TESTS],
            exclude: SLOW_TESTS,
            maxWorkers: AT_ONCE,
            setupFiles: FIXED_CHANCE,
            globalSetup: './test/support/edge/build-once.ts',
          },
        },
        {
          plugins: [
            cloudflareTest({
              wrangler: { configPath: './wrangler.toml' },
              miniflare: {
                bindings: {
                  TEST_MIGRATIONS: await readD1Migrations('migrations'),
                  FUZZ_STREAMS: process.env.FUZZ_STREAMS ?? '',
                },
              },
            }),
          ],
          test: {
            ...timeouts,
            name: 'workerd',
            // workerd has no environment of the process
            env: { SLOW: process.env.SLOW ?? '' },
            // the set-up below empties what files before have filled
            isolate: false,
            maxWorkers: AT_ONCE,
            include: [WORKER_TESTS],
            exclude: SLOW_TESTS,
            setupFiles: ['./test/support/workerd-setup.ts', ...FIXED_CHANCE],
          },
        },
      ],
    },
  };
});
