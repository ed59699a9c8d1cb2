/**
 * Hostile weather at full size, against the built Worker as `npm run serve` runs it: halts, floods
 * and milestones that are larger than anything that `npm test` makes. Each case asserts that every
 * answer is right, that every signed milestone is applied, and that the heap of our isolate stays
 * below the platform's limit.
 */
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../cli/lib/process/command-line.ts';
import { UNREFERENCED_LIMITS } from '../../src/ledger/write/drop-blocks.ts';
import { openDatabase } from '../support/edge/d1-file.ts';
import type { Edge } from '../support/edge/edge.ts';
import { askRoots, type Fed, followFeed, issueMilestone } from '../support/edge/follow-feed.ts';
import { OUR_ISOLATE, readHeaps } from '../support/edge/heap.ts';
import { untilLedger } from '../support/edge/walk-network.ts';
import { COIN_AMOUNT } from '../support/network/synthetic-network.ts';
import { basic, metadata, nft } from '../support/payloads/outputs.ts';

/** A coordinator waits for an answer no longer than this, by default. */
const MAX_ANSWER_MS = 1500;

/** The platform's limit on the heap of an isolate. */
const MAX_HEAP_BYTES = 128_000_000;

/**
 * Of V8, so that it collects garbage before there is more of it than the platform has room for.
 * Array buffers are not counted in it: the index of IDs and what is missing of a cone, some 65 MB.
 */
const OLD_SPACE_MB = 64;

/** Between two looks at the heaps. */
const LOOK_EVERY_MS = 50;

interface Running extends Fed {
  /** Blocks of live packs. */
  stored(): number;
}

/** A network at milestone 1 behind the HORNET double, and the Worker that follows it by feed. */
async function withWorker(seed: string, use: (running: Running) => Promise<void>): Promise<void> {
  await using fed = await followFeed(seed, { inspect: true, oldSpaceMb: OLD_SPACE_MB });
  const stored = () => {
    using db = openDatabase(fed.persistTo);
    return Number(db.prepare(COUNT_STORED).get()!.stored);
  };
  try {
    await use(Object.assign(fed, { stored }));
  } catch (error) {
    console.error(fed.edge.log.slice(-20).join('\n'));
    throw error;
  }
}

const COUNT_STORED = `
  SELECT coalesce(sum(length(statuses)), 0) / 8 AS stored FROM pack WHERE live = 1`;

function say(what: string, figures: object): void {
  console.log(`${what}: ${JSON.stringify(figures)}`);
}

/** Proposes these parents. Returns the milliseconds that the right answer took. */
async function propose(running: Running, parents: readonly string[]): Promise<number> {
  const { request, response } = running.network.propose({ parents });
  const { told, ms } = await askRoots(running, request);
  assert.deepEqual(told, { status: 200, detail: null, body: response });
  if (inTime) assert.ok(ms < MAX_ANSWER_MS, `answered after ${ms} ms`);
  return ms;
}

const issue = (running: Running, parents: readonly string[], seconds = 60) =>
  issueMilestone(running, parents, seconds);

/** The most that each isolate's heap was while `work` went on, in MB with its garbage. */
async function peaksOf(edge: Edge, work: () => Promise<void>): Promise<Record<string, number>> {
  const peaks: Record<string, number> = {};
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      for (const [id, bytes] of await readHeaps(edge))
        peaks[id] = Math.max(peaks[id] ?? 0, Math.round(bytes / 1e6));
      await sleep(LOOK_EVERY_MS);
    }
  };
  const watching = watch();
  try {
    await work();
  } finally {
    isOver = true;
    await watching;
  }
  assert.ok(peaks[OUR_ISOLATE]! > 0);
  assert.ok(peaks[OUR_ISOLATE]! * 1e6 < MAX_HEAP_BYTES, JSON.stringify(peaks));
  return Object.fromEntries(Object.entries(peaks).filter(([, megabytes]) => megabytes >= 10));
}

/** Blocks pushed in a second: beyond 1,500 the feed is closed (feed/feed-connection.ts). */
const PUSHED_PER_SECOND = 1000;

/** Pushes blocks as `make` makes them, some at a time, each time until all are stored. */
async function pushStored(
  { network, double, stored }: Running,
  { count, atOnce }: { count: number; atOnce: number },
  make: () => void,
): Promise<void> {
  for (let made = 0; made < count; ) {
    const before = network.blocks.size;
    const others = stored() - before;
    const pace = sleep((1000 * atOnce) / PUSHED_PER_SECOND);
    for (let i = 0; i < Math.min(atOnce, count - made); i++) make();
    made += network.blocks.size - before;
    await double.mqtt!.pushNews();
    const due = others + network.blocks.size;
    for (const end = Date.now() + 600_000; stored() < due; await sleep(20))
      assert.ok(Date.now() < end, `${stored()} of ${due} blocks are stored`);
    await pace;
  }
}

const BATCHES = 2000;
const BATCH = 10;

/**
 * A question about the newest block has each batch stored by itself, as a second of a halt does.
 */
async function halt(running: Running): Promise<void> {
  const { network, double } = running;
  const { request } = network.propose();
  let last = network.milestoneBlock!;
  const times: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    for (let i = 0; i < BATCH; i++)
      last = network.note([...new Set([last, ...network.someParents()])]);
    await double.mqtt!.pushNews();
    const { told, ms } = await askRoots(running, { ...request, parents: [last] });
    assert.deepEqual([told.status, told.detail], [200, null]);
    times.push(ms);
  }
  const blocks = running.stored();
  const during = times.sort((a, b) => a - b);
  await running.restart();
  const afterRestartMs = await propose(running, [last]);
  const appliedMs = await issue(running, [last]);
  const nextMs = await propose(running, [network.milestoneBlock!]);
  say('halt', {
    blocks,
    medianMs: during[during.length >> 1],
    maxMs: during.at(-1),
    afterRestartMs,
    appliedMs,
    nextMs,
  });
}

/** Of more some are evicted, as no tip leads to them. */
const UNREFERENCED = UNREFERENCED_LIMITS.blocks;

async function unreferenced(running: Running): Promise<void> {
  const { network } = running;
  const began = Date.now();
  // the block of milestone 1 is one of them
  const flood = { count: UNREFERENCED - 1, atOnce: 2000 };
  const peaksWhileStored = await peaksOf(running.edge, () =>
    pushStored(running, flood, () => network.note()),
  );
  const storedSeconds = Math.round((Date.now() - began) / 1000);
  const parents = network.someParents();
  const times: number[] = [];
  const peaksWhileAsked = await peaksOf(running.edge, async () => {
    for (const named of [parents, parents.slice(1)]) times.push(await propose(running, named));
  });
  await running.restart();
  times.push(await propose(running, parents));
  let appliedMs = 0;
  const peaksWhileApplied = await peaksOf(running.edge, async () => {
    appliedMs = await issue(running, [network.milestoneBlock!, ...parents], 300);
  });
  say('unreferenced', {
    blocks: UNREFERENCED,
    storedSeconds,
    answersMs: times,
    appliedMs,
    peaksWhileStored,
    peaksWhileAsked,
    peaksWhileApplied,
  });
}

/** A past cone that takes more heap than 165,000 blocks do is too large (store-cone.ts). */
const LARGE = 150_000;

/** Of blocks that take two of the last eight as parents, some have no child: so more are made. */
const MADE = 1.14 * LARGE;

/** Every so many blocks are transfers. */
const TRANSFER_EVERY = 10;

async function milestone(running: Running): Promise<void> {
  const { network, double } = running;
  const coins = [...network.genesisCoins];
  for (let i = 1; i < MADE; i++) {
    if (i % TRANSFER_EVERY !== 0) {
      network.note();
      continue;
    }
    const made = network.transfer(coins.shift()!, network.random.below(16));
    network.attachTransaction(made);
    coins.push(made.coins[0]!);
  }
  const { index } = network.milestone({
    parents: [network.milestoneBlock!, ...network.someParents()],
  });
  const referenced = [...network.blocks.values()].filter(
    (each) => each.referenced?.index === index,
  );
  const blocks = referenced.length;
  assert.ok(blocks >= LARGE, `${blocks} blocks`);
  const began = Date.now();
  const peaks = await peaksOf(running.edge, async () => {
    // the feed is of no use for blocks that were missed
    double.confirm(index);
    await untilLedger(running.edge, index, 3600);
  });
  const seconds = Math.round((Date.now() - began) / 1000);
  const nextMs = await propose(running, [network.milestoneBlock!]);
  say('milestone', { blocks, seconds, peaks, nextMs });
}

const LARGE_BLOCKS = 1500;
const NFT_BYTES = 8000;

/** Transactions that all consume one coin, so that nobody needs tokens for them. */
async function outputs(running: Running): Promise<void> {
  const { network } = running;
  const base = network.milestoneBlock!;
  const own = network.account(0);
  const spend = { coin: network.genesisCoins[0]!, by: own };
  const attach = () => {
    const made = [0, 1, 2].map(() =>
      nft(own, { amount: 100_000_000n, immutable: [metadata(network.random.bytes(NFT_BYTES))] }),
    );
    network.attachTransaction(network.transaction([spend], made), [base]);
  };
  const flood = { count: LARGE_BLOCKS, atOnce: 20 };
  const peaksWhileStored = await peaksOf(running.edge, () => pushStored(running, flood, attach));
  const times: number[] = [];
  const peaks = await peaksOf(running.edge, async () => {
    times.push(await issue(running, [network.note([base])]));
    // all of the blocks consume what this one spends
    const made = network.transaction([spend], [basic(own, { amount: COIN_AMOUNT })]);
    times.push(await issue(running, [network.attachTransaction(made, [network.milestoneBlock!])]));
    times.push(await propose(running, [network.milestoneBlock!]));
  });
  const left = running.stored();
  assert.ok(left >= LARGE_BLOCKS, `${left} blocks are left`);
  // one of them at last
  const one = network.blocks.values().find(({ parents }) => parents[0] === base)!;
  times.push(await issue(running, [network.milestoneBlock!, one.id]));
  say('outputs', { blocks: LARGE_BLOCKS, times, peaksWhileStored, peaksWhileApplied: peaks });
}

const CASES: Record<string, (running: Running) => Promise<void>> = {
  halt,
  unreferenced,
  outputs,
  milestone,
};

const USAGE = `Usage: node tools/run.js test/slow/hostile.ts [--in-time] [NAME…]

Runs these cases, by default all, about 30 minutes:
  halt          ${BATCHES * BATCH} blocks without a milestone in ${BATCHES} batches, a restart, a milestone
  unreferenced  a proposal that reaches ${UNREFERENCED} unreferenced blocks
  outputs       milestones while ${LARGE_BLOCKS} unreferenced blocks with outputs of 24 KB are stored
  milestone     a milestone of ${LARGE} blocks, none of them stored before

  --in-time   answers after ${MAX_ANSWER_MS} ms fail too: for a machine that does nothing else`;

/** Whether late answers fail. */
let inTime = false;

await runMain(USAGE, async (args) => {
  const { positionals, values } = parseArgs({
    args,
    options: { 'in-time': { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  inTime = values['in-time'];
  const unknown = positionals.find((name) => !(name in CASES));
  if (unknown !== undefined) throw new UsageError(`no case is named ${unknown}`);
  for (const [name, run] of Object.entries(CASES))
    if (positionals.length === 0 || positionals.includes(name)) await withWorker(name, run);
  return 0;
});
