/**
 * Unreferenced blocks that grow old or are too many (src/ledger/write/drop-blocks.ts), and two
 * writers at once (src/ledger/core/fence.ts): a block that goes while somebody counts on it is an
 * error, never an answer without it.
 */
import { describe, expect, it } from 'vitest';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { storeUnreferenced } from '../../../src/follower/store/store-unreferenced.ts';
import { checksum } from '../../../src/ledger/core/checksum.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { decodeRecord, encodeRecord } from '../../../src/ledger/packs/block-record.ts';
import { writeBlockRow } from '../../../src/ledger/packs/id-rows.ts';
import { writeChecksums, writeStatuses } from '../../../src/ledger/packs/pack-columns.ts';
import { dropUnneeded } from '../../../src/ledger/write/drop-blocks.ts';
import { createUnreferencedIndex } from '../../../src/ledger/write/unreferenced-index.ts';
import { UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { expectRoots } from '../../support/ledger/expect-roots.ts';
import {
  ask,
  disturbed,
  followTo,
  issue,
  issueQuiet,
  ledgerIndex,
  type Rig,
  startLedger,
  startNew,
  storeNow,
  takeNext,
  withSplitPacks,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { sealRows } from '../../support/ledger/seal-rows.ts';
import {
  awaitedOutputs,
  knownBlockIds,
  storedBlock,
  storedBlocks,
} from '../../support/ledger/stored-blocks.ts';
import { parsedBlock } from '../../support/network/blocks.ts';
import { coneOf, lastIndex } from '../../support/network/network-model.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { coin } from '../../support/network/transactions.ts';
import { basic } from '../../support/payloads/outputs.ts';

const db = await openMemory();

/** Below-max-depth of the test networks, and the margin. */
const AGE = 15 + 10;

/** Batches by what is in them. */
const APPLIES = /INSERT INTO milestone \(/;
const STORES = /INSERT INTO pack|UPDATE pack SET next_block/;
const READS = /reach\(ledger/;
const DROPS = /UPDATE head SET(?!.*INSERT INTO milestone \()/s;

const noTips = async () => [];

/** One step, by a follower that remembers nothing. */
function drop(where: Database = db, readTips: () => Promise<string[]> = noTips) {
  return dropUnneeded(where, createUnreferencedIndex(), readTips);
}

/** One step, by the rig's follower, while upstream names these tips. */
function dropBeyond(
  { following }: Rig,
  limits: Parameters<typeof dropUnneeded>[3],
  ...tips: string[]
) {
  const readTips = async () => tips.map((id) => id.slice(2));
  return dropUnneeded(db, following.memory.index, readTips, limits);
}

async function isKnown(id: string): Promise<boolean> {
  return (await knownBlockIds(db)).has(id.slice(2));
}

async function knows(ids: readonly string[]): Promise<boolean[]> {
  const known = [];
  for (const id of ids) known.push(await isKnown(id));
  return known;
}

/**
 * With an unreferenced block of ledger index 1, and the ledger so far on that it is `age`
 * milestones old.
 */
async function withOldBlock(
  age: number,
): Promise<{ network: SyntheticNetwork; rig: Rig; old: string }> {
  const network = new SyntheticNetwork({ seed: 'orphans' });
  network.milestone();
  const old = network.note([network.milestoneBlock!]);
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 1);
  while (lastIndex(network) < 1 + age) {
    await issueQuiet(rig, network);
  }
  return { network, rig, old };
}

describe('unreferenced blocks', () => {
  it('are kept as long as they may be, and no longer', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    await drop();
    expect(await isKnown(old)).toBe(true);
    await issueQuiet(rig, network);
    await drop();
    expect(await isKnown(old)).toBe(false);
  });

  it('go together with all that stands on them, and are fetched when asked about', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    const young = network.note([old, network.milestoneBlock!]);
    const younger = network.note([young]);
    const apart = network.note([network.milestoneBlock!]);
    await storeNow(rig, db);
    const proposals = [[young], [younger, network.milestoneBlock!], [apart], [apart, younger]];
    const answers = async (options = {}) => {
      const all = [];
      for (const parents of proposals)
        all.push(await ask(rig, network.propose({ parents }).request, options));
      return all;
    };
    const right = () => proposals.map((parents) => network.propose({ parents }).response);
    expect(await answers()).toEqual(right());

    await issueQuiet(rig, network);
    await drop();
    expect(await knows([old, young, younger, apart])).toEqual([false, false, false, true]);
    // the last milestone's block is in the past of none of them any more
    for (const parents of proposals) parents.push(network.milestoneBlock!);
    await storeNow(withTips(rig, network.milestoneBlock!), db);
    expect(await answers()).toEqual([404, 404, right()[2], 404]);
    expect(await answers({ upstreams: [rig.upstream] })).toEqual(right());

    // and they may come again
    await storeNow(rig, db);
    expect(await knows([old, young, younger, apart])).toEqual([true, true, true, true]);
    expect(await answers()).toEqual(right());
  });

  it('go from the youngest down, so that no step leaves one without its parents', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    const splitting = withSplitPacks(rig);
    const chain = [old];
    for (let i = 0; i < 70; i++) {
      chain.push(network.note([chain.at(-1)!]));
      await storeNow(withTips(splitting, chain.at(-1)!), db);
    }
    await issueQuiet(rig, network);
    await storeNow(rig, db);
    const steps: number[] = [];
    for (let kept = chain.length; kept >= 0; ) {
      expect(await knows(chain)).toEqual(chain.map((_, i) => i < kept));
      for (const id of [old, chain[kept - 1], chain[kept], chain.at(-1)!]) {
        if (id === undefined) continue;
        const { request, response } = network.propose({ parents: [network.milestoneBlock!, id] });
        const isThere = chain.indexOf(id) < kept;
        expect(await ask(rig, request)).toEqual(isThere ? response : 404);
      }
      const { orphans, evicted } = await drop();
      expect(evicted).toBe(0);
      if (orphans === 0) break;
      steps.push(orphans);
      kept -= orphans;
    }
    expect(steps).toEqual([64, 7]);
  });

  it('leave nothing behind, and wait for nothing any more', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    const producer = network.transfer(network.genesisCoins[0]!, 1);
    const coin = producer.coins[0]!;
    const consumer = network.transfer(coin, 0);
    const id = network.attachTransaction(consumer, [old]);
    await storeNow(rig, db);
    expect(await awaitedOutputs(db)).toEqual([coin.id.toHex()]);
    expect((await storedBlock(db, id))!.bytes).not.toBe('');

    await issueQuiet(rig, network);
    await drop();
    expect(await storedBlock(db, id)).toBeUndefined();
    expect(await awaitedOutputs(db)).toEqual([]);
    // what it waited for comes
    const made = network.attachTransaction(producer, [network.milestoneBlock!]);
    await storeNow(withTips(rig, made), db);
    expect(await isKnown(made)).toBe(true);
  });

  it('stay when a milestone references them at last', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    await issue(rig, network, [network.milestoneBlock!, old]);
    await issueQuiet(rig, network);
    await drop();
    expect(await isKnown(old)).toBe(true);
  });
});

describe('dropped while somebody counts on it', () => {
  it('a block of a milestone: the milestone is not applied, but fetched anew by the next try', async () => {
    const { network, rig, old } = await withOldBlock(AGE + 1);
    const child = network.note([old]);
    network.milestone({ parents: [network.milestoneBlock!, child] });
    let drops = 0;
    const dropping = disturbed(db, async (sql) => {
      if (APPLIES.test(sql) && drops++ === 0) await drop();
    });
    const before = await ledgerIndex(db);
    await expect(takeNext(rig, dropping)).rejects.toThrow(LedgerMoved);
    expect(drops).toBe(1);
    expect([...(await knows([old, child])), await ledgerIndex(db)]).toEqual([false, false, before]);
    await takeNext(rig, dropping);
    expect([...(await knows([old, child])), await ledgerIndex(db)]).toEqual([
      true,
      true,
      before + 1,
    ]);
  });

  it('a block of a milestone, all of whose blocks are stored', async () => {
    const { network, rig, old } = await withOldBlock(AGE + 1);
    await storeNow(rig, db);
    network.milestone({ parents: [network.milestoneBlock!, old] });
    const dropping = disturbed(db, async (sql) => {
      if (APPLIES.test(sql)) await drop();
    });
    const before = await ledgerIndex(db);
    await expect(takeNext(rig, dropping)).rejects.toThrow(LedgerMoved);
    expect([await isKnown(old), await ledgerIndex(db)]).toEqual([false, before]);
  });

  it('an output that a milestone spends: nobody drops those, so that it is damage', async () => {
    const { network, rig } = await withOldBlock(0);
    const [coin] = network.genesisCoins;
    const made = network.transfer(coin!, 1);
    const block = network.attachTransaction(made, [network.milestoneBlock!]);
    await storeNow(rig, db);
    network.milestone({ parents: [network.milestoneBlock!, block] });
    const removing = disturbed(db, async (sql) => {
      const remove = db.prepare('DELETE FROM output WHERE id = ?1').bind(coin!.id.toHex());
      if (APPLIES.test(sql)) await remove.run();
    });
    const before = await ledgerIndex(db);
    await expect(takeNext(rig, removing)).rejects.toThrow('rows of the table milestone_part');
    expect(await ledgerIndex(db)).toBe(before);
  });

  it('the parent of a block that is being stored: it is not stored', async () => {
    const { network, rig, old } = await withOldBlock(AGE + 1);
    const child = network.note([old, network.milestoneBlock!]);
    const dropping = disturbed(db, async (sql) => {
      if (STORES.test(sql)) await drop();
    });
    await expect(storeNow(rig, dropping)).rejects.toThrow(LedgerMoved);
    expect(await knows([old, child])).toEqual([false, false]);
  });

  it('while a child is stored: nothing is dropped', async () => {
    const { network, rig, old } = await withOldBlock(AGE + 1);
    const child = network.note([old, network.milestoneBlock!]);
    let stored = 0;
    const storing = disturbed(db, async (sql) => {
      if (DROPS.test(sql)) stored += await storeNow(rig, db);
    });
    await expect(drop(storing)).rejects.toThrow(LedgerMoved);
    expect(stored).toBe(2);
    expect(await knows([old, child])).toEqual([true, true]);
  });

  it.each([
    ['before the unreferenced blocks are read', READS],
    ['before they are dropped', DROPS],
  ])('while a milestone references it, %s: nothing is dropped', async (_, batch) => {
    const { network, rig, old } = await withOldBlock(AGE + 1);
    const child = network.note([old]);
    await storeNow(rig, db);
    network.milestone({ parents: [network.milestoneBlock!, old] });
    let applied = 0;
    const applying = disturbed(db, async (sql) => {
      if (batch.test(sql) && applied++ === 0) await takeNext(rig, db);
    });
    await expect(drop(applying)).rejects.toThrow(LedgerMoved);
    expect(await knows([old, child])).toEqual([true, true]);
    expect(applied).toBe(1);
  });
});

describe('beyond a limit', () => {
  /** All unreferenced blocks, in the order in which they were stored. */
  async function unreferenced(): Promise<string[]> {
    const blocks = await storedBlocks(db);
    return blocks.filter(({ milestone }) => milestone === null).map(({ id }) => `0x${id}`);
  }

  interface Flooded {
    network: SyntheticNetwork;
    rig: Rig;
    tip: string;
    /** The past cone of the tip, the tip too. */
    honest: Set<string>;
  }

  /** An honest chain, and chains beside it, one behind the other, that some blocks tie together. */
  async function flooded({ chains = 6, length = 8, isSplit = false } = {}): Promise<Flooded> {
    const { network, rig, root } = await startNew(db, 'evicted');
    const storing = isSplit ? withSplitPacks(rig) : rig;
    const honest = new Set([root]);
    let tip = root;
    const ends: string[] = [];
    const store = (id: string) => storeNow(withTips(storing, id), db);
    for (let chain = 0; chain < chains; chain++) {
      let end = root;
      for (let i = 0; i < length; i++) {
        // every third chain's last block stands upon the first chain as well
        const also = i === length - 1 && chain % 3 === 2 ? [ends[0]!] : [];
        end = network.note([end, ...also]);
        if (isSplit) await store(end);
      }
      ends.push(end);
      await store(end);
      tip = network.note([tip]);
      honest.add(tip);
      await store(tip);
    }
    return { network, rig, tip, honest };
  }

  /** That every unreferenced block's parents are known. */
  async function expectWhole(network: SyntheticNetwork): Promise<void> {
    const known = await knownBlockIds(db);
    for (const id of await unreferenced())
      for (const parent of network.blocks.get(id)!.parents)
        expect([id, known.has(parent.slice(2))]).toEqual([id, true]);
  }

  /** Of two sets of blocks, that the first is what is left when the oldest unneeded ones go. */
  function expectOldestGone(
    network: SyntheticNetwork,
    before: readonly string[],
    after: readonly string[],
    honest: ReadonlySet<string>,
  ): void {
    const left = new Set(after);
    expect(before.filter((id) => honest.has(id) && !left.has(id))).toEqual([]);
    const gone = new Set(before.filter((id) => !left.has(id)));
    const firstLeft = before.findIndex((id) => left.has(id) && !honest.has(id));
    const younger = before.slice(firstLeft).filter((id) => gone.has(id));
    const orphaned = younger.filter((id) => {
      return network.blocks.get(id)!.parents.some((parent) => gone.has(parent));
    });
    expect(orphaned).toEqual(younger);
  }

  it('the oldest go with all that stands on them, and the past of the honest tips stays', async () => {
    const { network, rig, tip, honest } = await flooded();
    const before = await unreferenced();
    const limits = { blocks: 40, bytes: 1e9 };
    expect(before.length).toBe(6 * 9 + 1);
    const { orphans, evicted } = await dropBeyond(rig, limits, tip);
    const after = await unreferenced();
    expect([orphans, evicted]).toEqual([0, before.length - after.length]);
    expect(after.length).toBeLessThanOrEqual(0.75 * limits.blocks);
    expectOldestGone(network, before, after, honest);
    await expectWhole(network);
    // not more than needed: the chains that came last are there
    expect(after.length).toBeGreaterThan(0.5 * limits.blocks);
    expect(await dropBeyond(rig, limits, tip)).toMatchObject({ orphans: 0, evicted: 0 });

    const left = new Set(after);
    for (const id of before) {
      const { request, response } = network.propose({ parents: [network.milestoneBlock!, id] });
      expect(await ask(rig, request)).toEqual(left.has(id) ? response : 404);
    }
    const goneOnes = before.filter((id) => !left.has(id));
    await expectRoots(rig, network, [tip, goneOnes.at(-1)!], { upstreams: [rig.upstream] });
    // and they may come again
    await storeNow(withTips(rig, ...before), db);
    expect((await unreferenced()).sort()).toEqual(before.sort());
  });

  it('of bytes, too', async () => {
    const { network, rig, tip, honest } = await flooded();
    const before = await unreferenced();
    const sql = 'SELECT sum(octet_length(bytes) + octet_length(outputs)) AS n FROM pack_content';
    const bytes = Number(await db.prepare(sql).first('n'));
    const dropWithin = (most: number) => dropBeyond(rig, { blocks: 1e6, bytes: most }, tip);
    expect(await dropWithin(bytes)).toMatchObject({ orphans: 0, evicted: 0 });
    const { evicted } = await dropWithin(0.9 * bytes);
    expect(evicted).toBeGreaterThan(before.length / 10);
    expect(evicted).toBeLessThan(before.length / 2);
    expectOldestGone(network, before, await unreferenced(), honest);
    await expectWhole(network);
  });

  it('in steps, none of which leaves a block without its parents', async () => {
    const { network, rig, tip, honest } = await flooded({ chains: 9, length: 12, isSplit: true });
    const before = await unreferenced();
    const limits = { blocks: 20, bytes: 1e9 };
    const counts: number[] = [];
    for (let evicted = 1; evicted > 0; ) {
      ({ evicted } = await dropBeyond(rig, limits, tip));
      counts.push(evicted);
      await expectWhole(network);
      const left = new Set(await unreferenced());
      expect([...honest].filter((id) => !left.has(id))).toEqual([]);
    }
    expect(counts.length).toBeGreaterThan(2);
    expect(counts[0]).toBe(64);
    const after = await unreferenced();
    expect(after.length).toBeLessThanOrEqual(limits.blocks);
    expect(before.length - after.length).toBe(counts.reduce((sum, count) => sum + count));
  });

  it('nothing goes where no tip is known and there is room', async () => {
    const { rig } = await flooded({ chains: 2 });
    const before = await unreferenced();
    const { index } = rig.following.memory;
    const limits = { blocks: before.length / 1.4, bytes: 1e9 };
    for (const tips of [[], [`0x${'ab'.repeat(32)}`]])
      expect(await dropBeyond(rig, limits, ...tips)).toMatchObject({ orphans: 0, evicted: 0 });
    const failing = () => Promise.reject(new UpstreamFailure('no tips'));
    await expect(dropUnneeded(db, index, failing, limits)).rejects.toThrow();
    expect(await unreferenced()).toEqual(before);
  });

  it('the newest go where there is none, as no tip is known before another is stored', async () => {
    const { network, rig } = await flooded({ chains: 2 });
    const before = await unreferenced();
    const tip = network.note([network.milestoneBlock!]);
    const limits = { blocks: before.length / 1.6, bytes: 1e9 };
    const { index } = rig.following.memory;
    const drop = () => dropUnneeded(db, index, async () => [tip.slice(2)], limits);
    const { evicted, room } = await drop();
    expect(room).toBe(0);
    expect(evicted).toBeGreaterThan(before.length / 4);
    expect(await unreferenced()).toEqual(before.slice(0, -evicted));
    expect((await drop()).room).toBeGreaterThan(0);
    await storeNow(withTips(rig, tip), db);
    expect(await unreferenced()).toContain(tip);
    await expectWhole(network);
  });

  it('tips are not asked for below it', async () => {
    const { rig } = await flooded({ chains: 1 });
    const { index } = rig.following.memory;
    const readTips = () => Promise.reject(new Error('asked'));
    const limits = { blocks: 1000, bytes: 1e9 };
    const nothing = { orphans: 0, evicted: 0 };
    expect(await dropUnneeded(db, index, readTips, limits)).toMatchObject(nothing);
  });

  it('nothing goes that was stored upon, or referenced, meanwhile', async () => {
    const { network, rig, tip } = await flooded({ chains: 2 });
    const before = await unreferenced();
    const child = network.note([before[0]!]);
    const storing = disturbed(db, async (sql) => {
      if (DROPS.test(sql)) await storeNow(withTips(rig, child), db);
    });
    const { index } = rig.following.memory;
    const limits = { blocks: 4, bytes: 1e9 };
    const tips = async () => [tip.slice(2)];
    await expect(dropUnneeded(storing, index, tips, limits)).rejects.toThrow(LedgerMoved);
    expect(await unreferenced()).toEqual([...before, child]);
    network.milestone({ parents: [network.milestoneBlock!, child] });
    const applying = disturbed(db, async (sql) => {
      if (DROPS.test(sql)) await takeNext(rig, db);
    });
    await expect(dropUnneeded(applying, index, tips, limits)).rejects.toThrow(LedgerMoved);
    expect(await isKnown(child)).toBe(true);
  });
});

/** A block of 12 KB may mention 256 outputs, which the follower keeps in memory. */
it('few blocks that mention many outputs are evicted, down to the limit', async () => {
  const { network, rig, root } = await startNew(db, 'mentions');
  const by = network.account(0);
  const output = basic(by, { amount: 1_000_000n });
  const outputs = Array.from({ length: 128 }, () => output);
  const tip = network.note([root]);
  for (let block = 0; block < 8; block++) {
    const spends = Array.from({ length: 128 }, (_, i) => {
      const id = new Uint8Array(34).fill(block + 1, 0, 32);
      id[32] = i;
      return { coin: coin(id, output), by };
    });
    const made = network.attachTransaction(network.transaction(spends, outputs), [root]);
    await storeNow(withTips(rig, made, tip), db);
  }
  const before = (await knownBlockIds(db)).size;
  const limits = { blocks: 1000, bytes: 1e9, mentions: 4 * 256 };
  while ((await dropBeyond(rig, limits, tip)).evicted > 0);
  expect(await isKnown(tip)).toBe(true);
  const left = (await knownBlockIds(db)).size;
  expect(left).toBeLessThanOrEqual(before - 4);
  expect(left).toBeGreaterThan(before - 8);
});

describe('staged blocks', () => {
  /** Stores the block; its parents prove nothing, as the caller wants it. */
  async function stage({ network, following }: Rig, ...ids: string[]): Promise<void> {
    const { head, rules } = await readPosition(db, following);
    const blocks = new Map(
      ids.map((id) => [id.slice(2), parsedBlock(network.blocks.get(id)!.bytes)] as const),
    );
    const choose = () => ({ visible: new Set<string>(), staged: new Set(blocks.keys()) });
    const { index } = following.memory;
    const stored = await storeUnreferenced(db, head, { blocks, rules, choose, index });
    expect(stored).toHaveLength(ids.length);
  }

  it('stay, with all that they stand upon, and the milestone is applied', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    const spam = [network.note([network.milestoneBlock!])];
    for (let i = 0; i < 20; i++) spam.push(network.note([spam.at(-1)!]));
    await storeNow(withTips(rig, spam.at(-1)!), db);
    const young = network.note([old]);
    await storeNow(withTips(rig, young), db);
    await issueQuiet(rig, network);
    const staged = network.note([young, network.milestoneBlock!]);
    await stage(rig, network.milestoneBlock!, staged);
    const limits = { blocks: 5, bytes: 1e9 };
    for (let dropped = 1; dropped > 0; ) {
      const { orphans, evicted } = await dropBeyond(rig, limits, spam[0]!);
      dropped = orphans + evicted;
    }
    // what it stands upon is old, and beyond the limit
    expect(await knows([old, young, staged])).toEqual([true, true, true]);
    expect(await knows(spam)).toEqual(spam.map((_, i) => i === 0));
    await issue(rig, network, [staged, network.milestoneBlock!]);
    expect(await storedBlock(db, old)).toMatchObject({ milestone: lastIndex(network) });
  });
});

it('blocks far apart, in many packs, do not stop the follower', async () => {
  const { network, rig, root } = await startNew(db, 'sparse');
  const sparse = network.note([root]);
  await storeNow(withTips(rig, sparse), db);
  // as if it had been stored long ago, in many packs
  const [pack] = (await db.prepare('SELECT * FROM pack WHERE live = 1').all()).results;
  const { number, record } = (await storedBlock(db, sparse))!;
  const { leaf, parents } = decodeRecord(record);
  const rows = Array.from({ length: 900 }, (_, i) => {
    const far = 1000 + 256 * i;
    const own = encodeRecord({ number: far, parents, leaf });
    const statuses = writeStatuses([{ milestone: 0, storedAt: 0, reason: 0 }]);
    const sums = {
      records: checksum(own),
      statuses: checksum(statuses),
      states: checksum(NOTHING),
      next: 0,
    };
    const id = far.toString(16).padStart(64, '0');
    const blocks = JSON.stringify([writeBlockRow(far, id, 0)]);
    return [far, own.toBase64(), statuses.toBase64(), writeChecksums(sums), blocks];
  });
  expect(number).toBeLessThan(1000);
  expect(pack).toBeDefined();
  const inserts = [
    `INSERT INTO pack (key, live, staged, stored_at, last_milestone, next_block, next_output, sums,
        records, statuses, states, unresolved, blocks, outputs)
      SELECT value ->> 0, 1, NULL, -100, 0, 1000000, 1000000, value ->> 3, value ->> 1, value ->> 2,
        '', '[]', value ->> 4, '[[]]'
      FROM json_each(?1)`,
    `INSERT INTO pack_content (key, bytes, outputs, details)
      SELECT value ->> 0, '["AAAA"]', '[[]]', '[[]]' FROM json_each(?1)`,
  ];
  await db.batch(inserts.map((sql) => db.prepare(sql).bind(JSON.stringify(rows))));
  await db.prepare('UPDATE head SET next_block = 1000000, next_output = 1000000').run();
  await sealRows(db, 'head');
  network.note();
  network.milestone();
  await followTo(rig, 2);
  const left = (await storedBlocks(db)).filter(({ milestone }) => milestone === null);
  expect(left.length).toBeGreaterThan(900);
  expect((await storedBlocks(db)).filter(({ milestone }) => milestone === 2)).toHaveLength(
    coneOf(network, 2).length,
  );
});

const NOTHING = new Uint8Array(0);
