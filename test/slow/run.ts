/**
 * `npm run test:slow`: the long tests, with larger counts than those of `npm test`.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../cli/lib/process/command-line.ts';
import { type Count, conclude, run, runVitest } from '../support/run-tests.ts';

type Run = (inTime: boolean) => Promise<Count>;

/** A command that passes or fails as a whole. */
const script =
  (name: string): Run =>
  async (inTime) => {
    const flags = inTime && name === 'hostile' ? ['--in-time'] : [];
    const code = await run(process.execPath, [`test/slow/${name}.ts`, ...flags]);
    return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  };

/** Tests whose figures are of interest though they pass. */
const TALK = /^(?:e2e|slow)/;

/** Files of tests, with a space between them, which read their counts from the environment. */
const vitest =
  (project: 'e2e' | 'node' | 'workerd', path: string, env: Record<string, string> = {}): Run =>
  (inTime) => {
    const talk = TALK.test(path) ? ['--silent=false'] : [];
    const strict = inTime && /e2e\/(?:serve-load|coordinator)/.test(path) ? { IN_TIME: '1' } : {};
    const settings = { SLOW: '1', ...env, ...strict };
    const paths = path.split(' ').map((each) => `test/${each}`);
    return runVitest(['--project', project, ...talk, ...paths], settings);
  };

/** Fresh seeds, for an hour, on as many cores as there are. */
const simulate: Run = async () => {
  const { SECONDS = '3600' } = process.env;
  const first = String(Math.floor(Date.now() / 1000));
  const options = ['--seconds', SECONDS, '--workers', String(availableParallelism())];
  const code = await run(process.execPath, ['test/simulator/run.ts', ...options, first]);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
};

const { REQUESTS = '300000', MILESTONES = '1500' } = process.env;
const RANDOM_LIES = { RANDOM_LIES: '500' };

const TESTS: Readonly<Record<string, Run>> = {
  kills: vitest('e2e', 'e2e/kills'),
  serve: vitest('e2e', 'e2e/serve.test', { KILLS: '50' }),
  starts: vitest('e2e', 'slow/starts'),
  'serve-memory': vitest('e2e', 'slow/serve-memory'),
  backups: vitest('e2e', 'slow/backups'),
  'serve-backup': vitest('node', 'cli/serve/serve-backup'),
  'full-disk': script('full-disk'),
  clock: vitest('e2e', 'slow/clock'),
  clients: vitest('e2e', 'slow/generated-clients'),
  documents: vitest('node', 'clients/developers'),
  library: vitest('node', 'stardust/library/package'),
  'serve-load': vitest('e2e', 'e2e/serve-load', { REQUESTS, MILESTONES }),
  'serve-disk': vitest('e2e', 'e2e/serve-disk', { QUESTIONS: '10000' }),
  floods: vitest('e2e', 'e2e/floods', { SECONDS: '30' }),
  siege: script('siege'),
  coordinator: vitest('e2e', 'e2e/coordinator', { MILESTONES: '150' }),
  feeds: vitest('e2e', 'e2e/feed', { FEEDS: 'all' }),
  faults: vitest('e2e', 'e2e/faults'),
  chain: vitest('e2e', 'e2e/chain'),
  forged: vitest('e2e', 'e2e/hostile'),
  imports: vitest('node', 'cli/import/import.test', { DEATHS: '40' }),
  commands: vitest(
    'node',
    'cli/serve/serve.test cli/serve/systemd cli/start.test cli/deploy/deploy.test cli/reindex cli/local.test cli/explain.test',
  ),
  reads: vitest('e2e', 'e2e/reads-at-once'),
  'served-import': vitest('e2e', 'e2e/import-while-serving'),
  builds: vitest('node', 'cli/build.test'),
  core: vitest('node', 'http/core-worker'),
  remote: vitest('node', 'cli/import/import-remotely'),
  'bad-requests': vitest('node', 'whole/running-worker', { BAD_REQUESTS: '20000' }),
  'nearly-full': vitest('workerd', 'follower/nearly-full'),
  ledgers: vitest(
    'node',
    'ledger/write/scrub ledger/write/prune ledger/write/milestone-packs ledger/import/load-snapshot follower/store/leave-out follower/failed-writes follower/store/store-cone follower/store/store-tips follower/recorded-networks.test follower/uncounted-upstream node/requests-during-writes http/routes/node-routes',
  ),
  databases: vitest(
    'workerd',
    'follower/large-cone ledger/write/unreferenced-index node/white-flag-cost nft-index/publish whole/rows-written whole/recorded-reads modules/events/event-broker modules/histories/nft-history.worker http/bad-requests whole/repaired-ledger follower/several-upstreams',
  ),
  formats: vitest(
    'node',
    'stardust/snapshot stardust/reference-fuzz stardust/parser-fuzz stardust/crypto stardust/proof explorer/flow',
  ),
  large: vitest(
    'node',
    'ledger/intake/large-contents modules/events/broker-heap modules/proofs/large-faults',
  ),
  costs: vitest('workerd', 'whole/large-rows modules/histories/nft-history-cost'),
  flips: vitest('node', 'whole/flipped whole/damage modules/histories/nft-', {
    ...{ FLIPPED_ROWS: '8', CLIENTS: '500', MUTATIONS: '5000', RUNS: '60' },
  }),
  doubles: vitest('node', 'self simulator/simulator.test simulator/hanging simulator/set-back'),
  sums: script('sums'),
  proofs: vitest('node', 'modules/proofs/shimmer-proofs'),
  events: vitest('workerd', 'modules/events/fuzz', { FUZZ_STREAMS: '100000' }),
  'event-feed': vitest('e2e', 'e2e/events'),
  lists: vitest(
    'node',
    'modules/lists/nft-list modules/lists/recorded-lists modules/galleries/nfts clients/nft-lists',
  ),
  final: vitest('node', 'modules/final', { PROOFS: '10000', STATEMENTS: '1000' }),
  certificates: vitest('node', 'stardust/verifier', { CLIENTS: '6000' }),
  async lies(inTime) {
    const told = await vitest('e2e', 'e2e/lies.test', RANDOM_LIES)(inTime);
    const page = ['--config', 'vitest.browser.config.ts', 'test/browser/lies'];
    const shown = await runVitest(page, RANDOM_LIES);
    return { passed: told.passed + shown.passed, failed: told.failed + shown.failed };
  },
  modules: script('modules'),
  simulator: simulate,
  hostile: script('hostile'),
};

const USAGE = `Usage: npm run test:slow -- [--in-time] [NAME…]

Runs all long tests, or those that are named, one after the other. The last line is
"N passed, N failed"; exit code 1 if any failed.

  --in-time   late answers fail too, in serve-load, coordinator and hostile: for a machine that
              does nothing else

  name        on two cores that do nothing else
  kills         5 min  the Worker killed 150 times while it follows a network
  serve         1 min  npm run serve killed 50 times under load while it follows a network
  starts        6 min  serve started and killed 104 times, in 8 ways, on one folder and port
  backups       1 min  20 back-ups of a ledger that moves and is read, killed and restored
  serve-backup  1 min  back-ups of a folder that serve has, and of one that it gets then
  full-disk     1 min  the disk of serve fills up while it follows a network, and has space again
  clock         2 min  the clock set back by an hour, and forward again, while it follows (needs cc)
  clients       2 min  clients that generators make of openapi.json, against the sample
  documents     1 min  the programs of docs/developers.md, in TypeScript, Python and by curl
  library       1 min  the library packed, installed and used as its README says
  serve-load    8 min  requests and milestones (REQUESTS, MILESTONES) through serve; no memory grows
  serve-memory  2 min  memory of front, workerd and kernel under attacks that hold it
  serve-disk    1 min  10,000 different white-flag questions to serve; its data folder must not grow
  floods        2 min  lists over 32 connections to serve; a coordinator waits for one of them
  siege        11 min  five minutes of a coordinator, and five beside hostile clients of all kinds
  coordinator   3 min  a coordinator that asks before each of 150 milestones
  feeds         6 min  three networks by feed: messages lost, doubled, spoiled; cuts and kills
  faults        1 min  at each milestone another fault of the upstream, until it is mended
  chain         1 min  an edge node that follows an edge node, over two networks
  forged        1 min  forged milestones, large conflicts and numbers near their ends, over HTTP
  imports       1 min  an import killed 40 times
  commands      1 min  commands that are killed, refused or fail at any point, and those of wrangler
  reads         1 min  bursts of reads at once, answered by serve from memory
  served-import 1 min  an import of 300,000 outputs, a back-up and reindex while a client asks serve
  builds        1 min  npm run build -- --to DIR, and what it leaves out
  core          1 min  the core without modules over HTTP
  remote        1 min  an import into a deployed ledger, cut off anywhere, by wrangler itself
  bad-requests  1 min  20,000 random bad requests to the built Worker over HTTP
  nearly-full   1 min  a database that becomes nearly full: fewer milestones are kept
  ledgers       1 min  followers, imports and prunings cut off anywhere, and upstreams that lie
  databases     2 min  the same in workerd: rows, queries, events and reads of a whole network
  formats       1 min  every recorded vector, and snapshots cut off after each byte
  large         1 min  the heap that the largest contents of blocks, events and explanations take
  costs         1 min  rows and bytes that D1 reads for the largest cones and histories
  flips        15 min  a character changed in eight rows of each table, at rest and carried on; and
                       histories and certificates of NFTs, random ones and such as are changed
  doubles       2 min  what other tests are made with: networks, mistakes, upstreams that hang
  sums          7 min  each check of stored data taken away, which a test must notice
  proofs        1 min  each byte changed of proofs of blocks
  events        2 min  100,000 random byte streams to the broker of events
  event-feed    1 min  an edge node that another one feeds; clients of events of one that is killed
  lists         1 min  all recorded lists
  final         1 min  10,000 proofs of a final ledger, 10,000 that are changed, 10,000 forgeries
  certificates  4 min  6,000 clients of each of three mixes of current, old and lying nodes; all
                       mixes of up to seven nodes
  lies          5 min  500 random lies to npx stardust-edge verify, and 500 to the page
  modules      20 min  each module taken away, and the example module added
  simulator    60 min  the whole node in virtual time: fresh seeds (SECONDS), each a story
  hostile      30 min  a halt, a flood, a milestone at full size through serve; heaps below 128 MB`;

await runMain(USAGE, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    options: { 'in-time': { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const unknown = positionals.find((name) => !Object.hasOwn(TESTS, name));
  if (unknown !== undefined) throw new UsageError(`no slow test is named ${unknown}`);
  const counts: Count[] = [];
  for (const [name, runOne] of Object.entries(TESTS)) {
    if (positionals.length === 0 || positionals.includes(name))
      counts.push(await runOne(values['in-time']));
  }
  return conclude(counts);
});
