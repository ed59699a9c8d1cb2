/**
 * Counts what a milestone and a lookup cost, while the follower and the publisher run over a
 * made-up network.
 *
 * The publisher's clock is made up too. It does most of its work 16 and 47 minutes after a change
 * (src/nft-index/timing-assumptions.ts), and those are not waited for: milestones come at the rate
 * for a while, then the clock jumps, so that each stretch settles what earlier ones left. Only the
 * last stretch is counted. The retention is short, so that in it milestones are pruned, and
 * the tables of IDs take turns. As the clock jumps, `recent` has fewer changes than those of its 48
 * minutes: the rows that are read for those are counted at the end.
 */

import { strict as assert } from 'node:assert';
import { followOnce } from '../../src/follower/pass.ts';
import { PARTS } from '../../src/ledger/packs/milestone-part.ts';
import { MODULES } from '../../src/modules/list.ts';
import type { OpenRecentCache } from '../../src/nft-index/cached-reads.ts';
import { RememberedReads } from '../../src/nft-index/cached-reads.ts';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import { lookUpNft, type NftSources } from '../../src/nft-index/look-up-nft.ts';
import { openNftLedger } from '../../src/nft-index/nft-sources.ts';
import { publish } from '../../src/nft-index/publish.ts';
import { MAX_STATES } from '../../src/nft-index/recent-changes.ts';
import {
  HEARTBEAT_MS,
  MARK_INTERVAL_MS,
  PUT_AFTER_MS,
  RECENT_CACHE_S,
  SETTLING_TIME_MS,
} from '../../src/nft-index/timing-assumptions.ts';
import {
  ask,
  ledgerIndex,
  questionOf,
  type Rig,
  startLedger,
} from '../../test/support/ledger/ledger-harness.ts';
import { coneOf } from '../../test/support/network/network-model.ts';
import { SteadyNetwork } from '../../test/support/network/steady-network.ts';
import { indexEveryKind } from '../../test/support/nft-list/listed-ledger.ts';
import type { Costs } from './bill.ts';
import type { LocalStores } from './local-stores.ts';
import type { Rate } from './rate.ts';

/**
 * Milestones. IDs stay four times as long. A table of them begins once in a retention, for some 5
 * rows: a quarter of a row a milestone here, nothing where a retention is a day.
 */
const RETENTION = 20;
const MIN_STRETCH = RETENTION;

/** In the last one the publisher does all that it does in the long run. */
const STRETCHES = 5;

/** From the beginning of one stretch to that of the next. */
const STRETCH_INTERVAL_MS = PUT_AFTER_MS + MARK_INTERVAL_MS;

/** For which a change is in `recent`. */
const WINDOW_MS = STRETCH_INTERVAL_MS + SETTLING_TIME_MS;

/** As the follower gives it (src/follower/follower.ts). */
const PUBLISH_BUDGET = { operations: 300, statements: 200 };

/** Data centres among which the lookups are shared out evenly. */
const BUSY_PLACES = 20;

const LOOKUPS = 1_000;

/** Hex digits of an ID, two numbers, and what SQLite puts around them. */
const ID_ROW_BYTES = 80;

/** Of a row of nft_past: its numbers, and what SQLite puts around the columns. */
const HISTORY_ROW_BYTES = 32;

/** On random keys, a B-tree fills its pages to some two thirds. */
const PAGES_BY_BYTES = 1.5;

/**
 * `lookup`: by way of a cache in each of {@link BUSY_PLACES}; `uncached`: without the Cache API.
 */
export interface CountedCosts extends Costs {
  uncachedLookup: Costs['lookup'];
}

/** One network on its way, and the time there. */
interface Run {
  stores: LocalStores;
  steady: SteadyNetwork;
  rig: Rig;
  rate: Rate;
  /** Unix milliseconds. */
  now: number;
  logLines: number;
}

/**
 * Counts of the last milestones and of lookups. Fails if anything stored or answered is wrong.
 *
 * @param indexAll whether every kind of output is indexed
 * @param keepsHistory whether all changes of NFTs are kept
 * @param modules around the core
 */
export async function countCosts(
  stores: LocalStores,
  rate: Rate,
  {
    indexAll,
    keepsHistory,
    modules = MODULES,
  }: { indexAll: boolean; keepsHistory: boolean; modules?: typeof MODULES },
): Promise<CountedCosts> {
  const stretch = Math.max(MIN_STRETCH, Math.ceil(MARK_INTERVAL_MS / 1000 / rate.seconds));
  const steady = new SteadyNetwork('costs', rate, 2 * stretch);
  steady.network.milestone();
  const rig = await startLedger(stores.ledger, steady.network, 0, { retention: RETENTION });
  rig.following.keepsHistory = keepsHistory;
  rig.following.ledgerParts = modules.flatMap(({ ledger }) => ledger ?? []);
  if (indexAll) await indexEveryKind(stores.ledger);
  const run: Run = { stores, steady, rig, rate, now: 1_700_000_000_000, logLines: 0 };
  return countingLines(run, async () => {
    rig.node.confirm(1);
    await pass(run);
    const counted = { ...stores.counts, logLines: 0, whiteFlagRows: 0 };
    for (let number = 0; number < STRETCHES; number++) {
      const began = run.now;
      if (number === STRETCHES - 1)
        Object.assign(counted, stores.counts, { logLines: run.logLines, whiteFlagRows: 0 });
      for (let i = 0; i < stretch; i++) counted.whiteFlagRows += await followMilestone(run);
      run.now = began + STRETCH_INTERVAL_MS;
    }
    const { rowsWritten, rowsRead, kvReads, kvWrites } = stores.counts;
    const { whiteFlagRows } = counted;
    const milestone = {
      rowsWritten: (rowsWritten - counted.rowsWritten) / stretch,
      rowsRead: (rowsRead - counted.rowsRead - whiteFlagRows) / stretch,
      kvReads: (kvReads - counted.kvReads) / stretch,
      kvWrites: (kvWrites - counted.kvWrites) / stretch,
      logLines: (run.logLines - counted.logLines) / stretch,
      ...(await storedBytes(run)),
    };
    await assertNfts(run);
    const { stored } = await openIndexLedger(stores.ledger).readState();
    const windowRows = await countWindowRows(run, stored!.state!.from);
    const lookup = await countLookups(run, true);
    const uncachedLookup = await countLookups(run, false);
    milestone.rowsRead += (await countFullWindowRows(run)) - windowRows;
    return { milestone, lookup, uncachedLookup, whiteFlag: { rowsRead: whiteFlagRows / stretch } };
  });
}

/** Whatever is written to the console meanwhile is counted, not shown. */
async function countingLines<T>(run: Run, work: () => Promise<T>): Promise<T> {
  const { info, warn, error } = console;
  const count = () => {
    run.logLines += 1;
  };
  Object.assign(console, { info: count, warn: count, error: count });
  try {
    return await work();
  } finally {
    Object.assign(console, { info, warn, error });
  }
}

/** A pass a second, as the follower's alarm goes. */
async function pass(run: Run): Promise<void> {
  run.now += 1000;
  const following = { ...run.rig.following, publish: () => publishNow(run) };
  // steps of the scrub are estimated (bill.ts), as they come by the real clock
  following.memory.upkeep.scrubbedAt = Date.now();
  await followOnce(following, { deadline: Date.now() + 20_000, milestones: 12 });
}

async function publishNow({ stores: { ledger, nftIndex }, now }: Run): Promise<void> {
  await publish(openIndexLedger(ledger), nftIndex, () => now, PUBLISH_BUDGET);
}

/**
 * The blocks of a milestone come one by one, a coordinator asks about it, then it is there.
 *
 * @returns rows read for the coordinator
 */
async function followMilestone(run: Run): Promise<number> {
  const { steady, rig, rate, stores } = run;
  const { network } = steady;
  const index = network.nextIndex;
  let passes = 0;
  await steady.makeMilestone(async (blocks) => {
    // the last one comes with the milestone
    while (passes < rate.seconds - 1 && blocks * rate.seconds >= (passes + 1) * rate.blocks) {
      await pass(run);
      passes += 1;
    }
  });
  const rowsBefore = stores.counts.rowsRead;
  const { question, answer } = questionOf(network, index);
  const result = await ask(rig, question, { upstreams: [rig.upstream] });
  assert.deepEqual(result, answer);
  const rows = stores.counts.rowsRead - rowsBefore;
  rig.node.confirm(index);
  await pass(run);
  assert.equal(await ledgerIndex(stores.ledger), index);
  const cone = coneOf(network, index);
  assert.equal(cone.length, rate.blocks);
  const included = cone.filter(({ referenced }) => referenced!.state === 'included');
  assert.equal(included.length, rate.transactions);
  return rows;
}

/** Of the rows that a milestone added, with what SQLite puts around each. */
const HISTORY_BYTES = `
  SELECT coalesce(sum(length(id) + length(output) + length(conditions) + length(block) +
      length(spender) + ${HISTORY_ROW_BYTES}), 0) / max(1,
    (SELECT min(idx) FROM milestone) - (SELECT history FROM head) + 1) AS bytes FROM nft_past`;

async function storedBytes({ stores: { ledger }, rate }: Run): Promise<{
  packBytes: number;
  idBytes: number;
  historyBytes: number;
}> {
  const lengthOf = (columns: readonly string[]) =>
    columns.map((column) => `length(${column})`).join(' + ');
  const ofPack = lengthOf(['records', 'statuses', 'states', 'blocks', 'outputs']);
  const ofContent = lengthOf(['bytes', 'outputs', 'details']);
  const ofPart = lengthOf(['packs', 'blocks', 'spent']);
  const sql = `
    SELECT ((SELECT sum(${ofPack}) FROM pack) + (SELECT sum(${ofContent}) FROM pack_content) +
        sum(${ofPart})) / count(DISTINCT key / ${PARTS})
      AS bytes FROM milestone_part`;
  const packBytes = Number(await ledger.prepare(sql).first('bytes'));
  const ids = rate.blocks + 2 * rate.transactions;
  const historyBytes = Number(await ledger.prepare(HISTORY_BYTES).first('bytes'));
  return {
    packBytes,
    idBytes: ids * ID_ROW_BYTES * PAGES_BY_BYTES,
    historyBytes: historyBytes * PAGES_BY_BYTES,
  };
}

async function assertNfts({ steady, stores: { ledger } }: Run): Promise<void> {
  const { results } = await ledger.prepare('SELECT id, output FROM nft').all();
  const stored = new Map(results.map(({ id, output }) => [String(id), String(output)]));
  assert.deepEqual(stored, steady.nftOutputs());
}

/** Rows that are read for `recent`, with the changes after that milestone. */
async function countWindowRows({ stores: { ledger, counts } }: Run, from: number): Promise<number> {
  const before = counts.rowsRead;
  const since = { generation: '', from, token: undefined };
  await openIndexLedger(ledger).readWindow(since, MAX_STATES);
  return counts.rowsRead - before;
}

/** With as many changes as there are in {@link WINDOW_MS}, of the NFTs in turn. */
async function countFullWindowRows(run: Run): Promise<number> {
  const { steady, rate, stores } = run;
  const nfts = [...steady.nftOutputs().keys()];
  const milestones = Math.ceil(WINDOW_MS / 1000 / rate.seconds);
  const rows = Array.from({ length: rate.nfts === 0 ? 0 : milestones }, (_, i) => {
    const changed = Array.from(
      { length: rate.nfts },
      (_, j) => nfts[(i * rate.nfts + j) % nfts.length],
    );
    return [i + 1, JSON.stringify(changed)];
  });
  await stores.ledger.batch([
    stores.ledger.prepare('DELETE FROM nft_change'),
    stores.ledger
      .prepare('INSERT INTO nft_change SELECT value ->> 0, 0, value ->> 1 FROM json_each(?1)')
      .bind(JSON.stringify(rows)),
  ]);
  return countWindowRows(run, 0);
}

/** Each by an isolate that remembers nothing, shared out evenly over the day and the places. */
async function countLookups(run: Run, cached: boolean): Promise<Costs['lookup']> {
  const { stores, steady, rate } = run;
  const { counts } = stores;
  const nfts = [...steady.nftOutputs()];
  const places = Array.from({ length: BUSY_PLACES }, () => openPlace(() => run.now));
  const total = { kvReads: 0, rowsRead: 0 };
  const linesBefore = run.logLines;
  const began = run.now;
  let published = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < LOOKUPS; i++) {
    run.now = began + Math.round((i * 86_400_000) / Math.max(1, rate.lookups));
    if (run.now - published >= HEARTBEAT_MS) {
      await publishNow(run);
      published = run.now;
    }
    const sources: NftSources = {
      ledger: openNftLedger(stores.ledger),
      index: stores.nftIndex,
      openCache: cached ? places[i % BUSY_PLACES]! : () => undefined,
      remembered: new RememberedReads(),
      clock: () => run.now,
    };
    // one in eight is about an NFT that never was
    const [nftId, outputId] = (i % 8 > 0 && nfts[(i * 7) % nfts.length]) || [unknownNft(i)];
    const deferred: Promise<unknown>[] = [];
    const before = { ...counts };
    const request = { url: 'https://node.invalid/', defer: later(deferred) };
    const answer = await lookUpNft(sources, nftId, 0, request);
    await Promise.all(deferred);
    assert.equal(answer?.outputId, outputId);
    assert.equal(answer?.ledgerIndex, steady.network.nextIndex - 1);
    total.kvReads += counts.kvReads - before.kvReads;
    total.rowsRead += counts.rowsRead - before.rowsRead;
  }
  return {
    kvReads: total.kvReads / LOOKUPS,
    rowsRead: total.rowsRead / LOOKUPS,
    logLines: (run.logLines - linesBefore) / LOOKUPS,
  };
}

function later(deferred: Promise<unknown>[]): (work: () => Promise<unknown>) => void {
  return (work) => void deferred.push(work());
}

function unknownNft(number: number): string {
  return `ff${number.toString(16).padStart(62, '0')}`;
}

/** The cache of a data centre, which keeps what it is told to for as long as it is told to. */
function openPlace(clock: () => number): OpenRecentCache {
  let kept: { text: string; until: number } | undefined;
  return () => ({
    match: async () => (kept !== undefined && clock() < kept.until ? kept.text : undefined),
    async put(text) {
      kept = { text, until: clock() + RECENT_CACHE_S * 1000 };
    },
  });
}
