/**
 * `npm run test:slow`: the long tests, with larger counts than those of `npm test`.
 */
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../scripts/lib/process/command-line.ts';
import { type Count, conclude, run, runVitest } from '../support/run-tests.ts';

interface SlowTest {
  name: string;
  /** One sentence. */
  about: string;
  /** On two cores that do nothing else. */
  minutes: number;
  run(inTime: boolean): Promise<Count>;
}

/** A command that passes or fails as a whole. */
async function runAsOne(script: string, ...args: string[]): Promise<Count> {
  const passed = (await run(process.execPath, [script, ...args])) === 0;
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** A test of test/e2e/, which reads its counts from the environment. */
function runEndToEnd(file: string, env: Record<string, string> = {}): Promise<Count> {
  return runVitest(['--project', 'e2e', '--silent=false', file], { SLOW: '1', ...env });
}

const TESTS: readonly SlowTest[] = [
  {
    name: 'kills',
    about: 'the Worker killed 300 times while it follows a network',
    minutes: 12,
    run: () => runEndToEnd('test/e2e/kills'),
  },
  {
    name: 'serve',
    about: 'npm run serve killed 50 times under load while it follows a network',
    minutes: 5,
    run: () => runEndToEnd('test/e2e/serve.test', { KILLS: '50' }),
  },
  {
    name: 'starts',
    about: 'serve started and killed 104 times, in 8 ways, on one folder and port',
    minutes: 6,
    run: () => runAsOne('test/slow/starts.ts'),
  },
  {
    name: 'backups',
    about: '20 back-ups of a ledger that moves and is read, killed and restored',
    minutes: 4,
    run: () => runAsOne('test/slow/backups.ts'),
  },
  {
    name: 'full-disk',
    about: 'the disk of serve fills up while it follows a network, and has space again',
    minutes: 1,
    run: () => runAsOne('test/slow/full-disk.ts'),
  },
  {
    name: 'clock',
    about: 'the clock set back by an hour, and forward again, while it follows',
    minutes: 1,
    run: () => runAsOne('test/slow/clock.ts'),
  },
  {
    name: 'serve-load',
    about: 'requests and milestones (REQUESTS, MILESTONES) through serve; no memory grows',
    minutes: 25,
    run: () =>
      runEndToEnd('test/e2e/serve-load', {
        REQUESTS: process.env.REQUESTS ?? '1000000',
        MILESTONES: process.env.MILESTONES ?? '5000',
      }),
  },
  {
    name: 'serve-disk',
    about: '10,000 different white-flag questions to serve; its data folder must not grow',
    minutes: 1,
    run: () => runEndToEnd('test/e2e/serve-disk', { QUESTIONS: '10000' }),
  },
  {
    name: 'floods',
    about: 'lists over 32 connections to serve; a coordinator waits for one of them',
    minutes: 2,
    run: () => runEndToEnd('test/e2e/floods', { SECONDS: '30' }),
  },
  {
    name: 'siege',
    about: 'hostile clients of all kinds at once beside a coordinator: latency, memory',
    minutes: 6,
    run: () => runAsOne('test/slow/siege.ts'),
  },
  {
    name: 'load',
    about: 'half an hour of both operations on a moving ledger; the heap must not grow',
    minutes: 31,
    run: (inTime) =>
      runEndToEnd('test/e2e/load', { MINUTES: '30', ...(inTime && { IN_TIME: '1' }) }),
  },
  {
    name: 'coordinator',
    about: 'a coordinator that asks before each of 300 milestones',
    minutes: 6,
    run: (inTime) =>
      runEndToEnd('test/e2e/coordinator', { MILESTONES: '300', ...(inTime && { IN_TIME: '1' }) }),
  },
  {
    name: 'feeds',
    about: 'three networks by feed: messages lost, doubled, spoiled; cuts and kills',
    minutes: 6,
    run: () => runEndToEnd('test/e2e/feed', { FEEDS: 'all' }),
  },
  {
    name: 'chain',
    about: 'an edge node that follows an edge node, over two networks',
    minutes: 1,
    run: () => runEndToEnd('test/e2e/chain'),
  },
  {
    name: 'forged',
    about: 'forged milestones, large conflicts and numbers near their ends, over HTTP',
    minutes: 1,
    run: () => runEndToEnd('test/e2e/hostile'),
  },
  {
    name: 'imports',
    about: 'an import killed 40 times',
    minutes: 1,
    run: () =>
      runVitest(['--project', 'node', 'test/scripts/import/import.test'], { DEATHS: '40' }),
  },
  {
    name: 'networks',
    about: 'every answer over HTTP at every ledger index of two recorded networks',
    minutes: 3,
    run: () => runEndToEnd('test/e2e/networks'),
  },
  {
    name: 'bad-requests',
    about: '20,000 random bad requests to the built Worker over HTTP',
    minutes: 1,
    run: () =>
      runVitest(['--project', 'node', 'test/http/running-worker'], { BAD_REQUESTS: '20000' }),
  },
  {
    name: 'nearly-full',
    about: 'a database that becomes nearly full: fewer milestones are kept',
    minutes: 1,
    run: () => runVitest(['--project', 'workerd', 'test/follower/nearly-full'], { SLOW: '1' }),
  },
  {
    name: 'flips',
    about: 'a character changed in eight rows of each table; no answer is wrong',
    minutes: 2,
    run: () => runVitest(['--project', 'node', 'test/ledger/read/flipped'], { FLIPPED_ROWS: '8' }),
  },
  {
    name: 'events',
    about: '100,000 random byte streams to the broker of events',
    minutes: 2,
    run: () => runVitest(['--project', 'workerd', 'test/events/fuzz'], { FUZZ_STREAMS: '100000' }),
  },
  {
    name: 'event-feed',
    about: 'an edge node that another one feeds; clients of events of one that is killed',
    minutes: 1,
    run: () => runEndToEnd('test/e2e/event-feed'),
  },
  {
    name: 'lists',
    about: '10,000 random queries of the lists of NFTs',
    minutes: 1,
    run: () =>
      runVitest(['--project', 'node', 'test/http/routes/nft-list.test.ts'], { QUERIES: '10000' }),
  },
  {
    name: 'final',
    about: '10,000 proofs of a final ledger, 10,000 that are changed, 10,000 forgeries',
    minutes: 1,
    run: () => runVitest(['--project', 'node', 'test/ledger/final'], { PROOFS: '10000' }),
  },
  {
    name: 'questions',
    about: '10,000 questions about random networks, each put to the oracle too',
    minutes: 15,
    run: () =>
      runVitest(['--project', 'node', '--silent=false', 'test/node/random-questions'], {
        QUESTIONS: '10000',
      }),
  },
  {
    name: 'lies',
    about: '2,000 random lies to npx stardust-edge verify, and 2,000 to the page',
    minutes: 20,
    async run() {
      const env = { RANDOM_LIES: '2000' };
      const told = await runVitest(['--project', 'e2e', 'test/e2e/lies.test'], env);
      const shown = await runVitest(
        ['--config', 'vitest.browser.config.ts', 'test/browser/lies'],
        env,
      );
      return { passed: told.passed + shown.passed, failed: told.failed + shown.failed };
    },
  },
  {
    name: 'mutations',
    about: 'mistakes in copies of src/nft-index, which random histories must find',
    minutes: 1,
    run: () => runAsOne('test/slow/mutations.ts'),
  },
  {
    name: 'histories',
    about: '200,000 random histories of the NFT index',
    minutes: 15,
    run: () => runAsOne('test/slow/histories.ts'),
  },
  {
    name: 'weather',
    about: '10,000 runs of forged blocks, crashes, lies and what else is hostile',
    minutes: 30,
    run: () => runAsOne('test/slow/weather.ts'),
  },
  {
    name: 'hostile',
    about: 'a halt, a flood, a milestone at full size through serve; heaps below 128 MB',
    minutes: 30,
    run: (inTime) => runAsOne('test/slow/hostile.ts', ...(inTime ? ['--in-time'] : [])),
  },
];

const USAGE = `Usage: npm run test:slow -- [--in-time] [NAME…]

Runs all long tests, or those that are named, one after the other. The last line is
"N passed, N failed"; exit code 1 if any failed.

  --in-time   late answers fail too, in load and coordinator: for a machine that does nothing else

${TESTS.map(describe).join('\n')}`;

function describe({ name, about, minutes }: SlowTest): string {
  return `  ${name.padEnd(12)} ${`${minutes} min`.padStart(6)}  ${about}`;
}

await runMain(USAGE, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    options: { 'in-time': { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const unknown = positionals.find((name) => TESTS.every((test) => test.name !== name));
  if (unknown !== undefined) throw new UsageError(`no slow test is named ${unknown}`);
  const counts: Count[] = [];
  for (const { name, run } of TESTS) {
    if (positionals.length === 0 || positionals.includes(name))
      counts.push(await run(values['in-time']));
  }
  return conclude(counts);
});
