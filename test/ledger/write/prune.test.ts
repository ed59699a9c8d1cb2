/**
 * Pruning (src/ledger/write/prune.ts): what can still be asked for gets the answer that it always
 * got, all else 404; what nothing needs is gone; and it does not matter where a step was cut off.
 */
import { describe, expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { readBlockRows } from '../../../src/ledger/packs/id-rows.ts';
import { dropUnneeded } from '../../../src/ledger/write/drop-blocks.ts';
import { type PruneOptions, prune } from '../../../src/ledger/write/prune.ts';
import { createUnreferencedIndex } from '../../../src/ledger/write/unreferenced-index.ts';
import {
  ask,
  disturbed,
  followTo,
  ledgerIndex,
  type Question,
  questionOf,
  type Rig,
  startLedger,
  storeNow,
  takeNext,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import {
  awaitedOutputs,
  indexedIds,
  storedBlock,
  storedBlocks,
} from '../../support/ledger/stored-blocks.ts';
import { lastIndex, ledgerAt } from '../../support/network/network-model.ts';
import { Random } from '../../support/network/random.ts';
import { randomNetwork } from '../../support/network/random-network.ts';
import {
  type RecordedName,
  recordedNetwork,
  recordedQuestions,
} from '../../support/network/recorded-network.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const db = await openMemory();
const RETENTION = 35;

async function firstState(): Promise<number> {
  return Number(await db.prepare('SELECT min(idx) AS first FROM milestone').first('first'));
}

/**
 * Puts the question of every milestone so far, and sees that each is answered as it should be at
 * this state of pruning.
 */
async function askEverything(rig: Rig): Promise<void> {
  const first = await firstState();
  const ledger = await ledgerIndex(db);
  for (const { index } of rig.network.milestones.filter(
    (milestone) => milestone.index <= ledger + 1,
  )) {
    const { question, answer } = questionOf(rig.network, index);
    expect([index, await ask(rig, question)]).toEqual([index, index > first ? answer : 404]);
  }
}

/** IDs of the blocks of each pack. */
async function packedBlocks(): Promise<string[][]> {
  const blocks = await values('SELECT blocks AS value FROM pack ORDER BY key');
  return blocks.map((text) => readBlockRows(String(text)).map(([, id]) => `0x${id}`));
}

async function values(sql: string): Promise<unknown[]> {
  return (await db.prepare(sql).all<{ value: unknown }>()).results.map(({ value }) => value);
}

/** All that pruning touches; of no interest is who imported. */
async function contents(): Promise<Record<string, unknown>> {
  const rows = async (sql: string) => (await db.prepare(sql).all()).results;
  return {
    milestone: await rows('SELECT * FROM milestone'),
    pack: await rows('SELECT * FROM pack ORDER BY key'),
    part: await rows('SELECT * FROM milestone_part ORDER BY key'),
    output: await rows('SELECT * FROM output'),
    head: await rows('SELECT ledger, id_tables, forgotten FROM head'),
    ids: [...(await indexedIds(db))].sort(),
    awaited: (await awaitedOutputs(db)).sort(),
  };
}

const NETWORKS: RecordedName[] = process.env.SLOW ? ['network-a', 'network-c'] : ['network-c'];

describe.each(NETWORKS)('%s', (name) => {
  const network = recordedNetwork(name);
  const proposals = recordedQuestions(name).filter(({ status }) => status === 200);

  it('gets the roots about the states kept and 404 about the others, at every turn', async () => {
    const rig = await startLedger(db, network, network.genesis.index, { retention: RETENTION });
    for (let index = network.genesis.index; index <= lastIndex(network); index++) {
      await followTo(rig, index);
      expect(await firstState()).toBe(Math.max(network.genesis.index, index - RETENTION));
      if (index % 25 === 0 || index === lastIndex(network)) await askEverything(rig);
    }
    const first = await firstState();
    const kept = proposals.filter(({ request }) => (request as Question).index > first);
    let unknown = 0;
    for (const { request, response } of kept) {
      const answer = await ask(rig, request as Question);
      // a proposal may have had blocks that no milestone references: they are dropped some day, and
      // then not known
      expect([response, 404]).toContainEqual(answer);
      if (answer === 404) unknown++;
    }
    expect(unknown).toBeLessThan(kept.length / 10);
    for (const { request } of proposals) {
      if ((request as Question).index <= first)
        expect(await ask(rig, request as Question)).toBe(404);
    }
  });
});

/**
 * A network in which much happens for a while, and then nothing for longer than anything is kept.
 * What is open then stays so.
 */
function quietenedNetwork(seed: string): SyntheticNetwork {
  const network = randomNetwork({ seed, milestones: 14, events: 40 });
  network.attachTransaction(network.transfer(network.genesisCoins[0]!, 1), [
    network.milestoneBlock!,
  ]);
  while (network.milestones.length < 60) network.quietMilestone();
  return network;
}

/** One step of all that goes at the end of a pass. */
async function tidy(where: Database, options: PruneOptions): Promise<void> {
  await prune(where, RETENTION, options);
  await dropUnneeded(where, createUnreferencedIndex(), async () => []);
}

async function pruneAll(options: PruneOptions = {}): Promise<void> {
  for (let before = '', now = '.'; now !== before; ) {
    before = now;
    await tidy(db, options);
    now = JSON.stringify(await contents());
  }
}

it('keeps IDs for as long as their milestones, where fewer are to be kept from now on', async () => {
  const rig = await startLedger(db, quietenedNetwork('lowered'), 0);
  await followTo(rig, 20);
  // a second table of IDs begins
  await prune(db, 15, { step: 1 });
  await followTo(rig, 60);
  const forgotten: number[] = [];
  for (let first = 0; first < 55; first = await firstState()) {
    await prune(db, 5, { step: 1 });
    forgotten.push((await readHead(db))!.forgotten);
    expect(forgotten.at(-1)).toBeLessThan(await firstState());
  }
  expect(forgotten.at(-1)).toBeGreaterThan(forgotten[0]!);
});

it('leaves nothing but what is needed', async () => {
  const network = quietenedNetwork('leaves nothing');
  const rig = await startLedger(db, network, 0);
  const awaited = new Set<string>();
  for (let index = 1; index <= 14; index++) {
    await followTo(rig, index);
    for (const id of await awaitedOutputs(db)) awaited.add(id);
  }
  const before = await storedBlocks(db);
  for (let index = 15; index <= lastIndex(network); index++) await followTo(rig, index);
  await pruneAll();
  const ledger = lastIndex(network);
  const first = ledger - RETENTION;
  await askEverything(rig);

  // something of each kind was there to go
  const reasons = new Set(before.map(({ reason }) => reason));
  expect([...reasons]).toEqual(expect.arrayContaining([0, 1, 2, 3, null]));
  expect(awaited.size).toBeGreaterThan(0);
  expect(before.some(({ milestone }) => milestone === null)).toBe(true);
  expect(await values('SELECT idx AS value FROM milestone ORDER BY idx')).toEqual(
    Array.from({ length: RETENTION + 1 }, (_, i) => first + i),
  );

  const referenced = [...network.blocks.values()].filter((block) => block.referenced !== undefined);
  const kept = referenced.filter((block) => block.referenced!.index >= first);
  // the last milestone's block is the only unreferenced one
  const needed = new Set([...kept.map(({ id }) => id), network.milestoneBlock!]);
  const left = await packedBlocks();
  expect([...needed].filter((id) => !left.flat().includes(id))).toEqual([]);
  // a pack stays while one of its blocks is needed
  expect(left.filter((pack) => !pack.some((id) => needed.has(id)))).toEqual([]);
  expect(left.flat().length).toBeLessThan(0.8 * referenced.length);
  expect(left.length).toBeLessThan(network.blocks.size / 10);
  expect(await values('SELECT DISTINCT key / 4096 AS value FROM milestone_part')).toEqual(
    Array.from({ length: RETENTION + 1 }, (_, i) => first + i),
  );
  expect(await awaitedOutputs(db)).toEqual([]);
  const unspent = ledgerAt(network, ledger).map(({ outputId }) => outputId.toHex());
  expect(await values('SELECT id AS value FROM output ORDER BY id')).toEqual(unspent.sort());
});

it('forgets the IDs of a milestone all at once, says which, and keeps those of four retentions', async () => {
  const network = new SyntheticNetwork({ seed: 'forgets' });
  network.milestone();
  let [coin] = network.genesisCoins;
  for (let i = 0; i < 55; i++) {
    const transfer = network.transfer(coin!, i + 1);
    [coin] = transfer.coins;
    const block = network.attachTransaction(transfer, [network.milestoneBlock!]);
    network.milestone({ parents: [network.milestoneBlock!, block] });
  }
  const retention = 5;
  const rig = await startLedger(db, network, 0, { retention });
  /** The IDs that each milestone brings: of blocks, of outputs spent, and its own. */
  const due = new Map<number, string[]>();
  const add = (index: number, id: string) => due.set(index, [...(due.get(index) ?? []), id]);
  for (const { id, referenced } of network.blocks.values())
    if (referenced) add(referenced.index, id.slice(2));
  for (const [id, { spent }] of network.outputs) if (spent) add(spent.index, id.slice(2));
  for (const { index, id } of network.milestones) add(index, `m${id.slice(2)}`);
  const seen = new Set<number>();
  for (let index = 1; index <= lastIndex(network); index++) {
    await followTo(rig, index);
    const forgotten = Number(await db.prepare('SELECT forgotten FROM head').first('forgotten'));
    expect(forgotten).toBeLessThan(Math.max(index - 4 * retention, 0));
    expect(forgotten).toBeGreaterThanOrEqual(index - 6 * retention);
    seen.add(forgotten);
    const expected = [...due]
      .filter(([milestone]) => milestone > forgotten && milestone <= index)
      .flatMap(([milestone, ids]) => ids.map((id) => [id, milestone]));
    const found = [...(await indexedIds(db))].filter(([, milestone]) => milestone > 0);
    expect([index, found.sort()]).toEqual([index, expected.sort()]);
  }
  // tables were used again after they had been dropped
  expect(seen.size).toBeGreaterThan(5);
});

it.runIf(process.env.SLOW)(
  'keeps IDs of 105 milestones before the first state while a lower retention is reached',
  async () => {
    const network = new SyntheticNetwork({ seed: 'lowered' });
    const rig = await startLedger(db, network, network.genesis.index);
    const pruneAt = async (retention: number, step: number) => {
      await prune(db, retention, { step });
      const forgotten = Number(await db.prepare('SELECT forgotten FROM head').first('forgotten'));
      if (forgotten >= 0) expect((await firstState()) - forgotten).toBeGreaterThan(105);
      return forgotten;
    };
    for (let index = 1; index <= 320; index++) {
      network.milestone(index > 1 ? { parents: [network.milestoneBlock!] } : {});
      await takeNext(rig, db);
      if (index % 10 === 0) await pruneAt(80, 1000);
    }
    const before = await pruneAt(80, 1000);
    for (let steps = 0; steps < 60; steps++) await pruneAt(RETENTION, 1);
    expect(await firstState()).toBe(320 - RETENTION);
    expect(await pruneAt(RETENTION, 1)).toBeGreaterThan(before);
  },
);

describe('an output that never came into the ledger', () => {
  it('is kept as long as a block mentions it, and so can still come', async () => {
    const network = new SyntheticNetwork({ seed: 'mentioned' });
    network.milestone();
    const producer = network.transfer(network.genesisCoins[0]!, 1);
    const consumer = network.transfer(producer.coins[0]!, 2);
    const early = network.attachTransaction(consumer, [network.milestoneBlock!]);
    network.milestone({ parents: [network.milestoneBlock!, early] });
    while (network.milestones.length < 45) network.quietMilestone();
    const rig = await startLedger(db, network, 0);
    while ((await ledgerIndex(db)) < 45) await takeNext(rig, db);

    // it comes again, after the transaction that it needs
    const late = network.attachTransaction(consumer, [
      network.attachTransaction(producer, [network.milestoneBlock!]),
    ]);
    await storeNow(rig, db);
    await pruneAll();
    expect(await storedBlock(db, early)).toBeUndefined();
    const parents = [network.milestoneBlock!, late];
    const { request, response } = network.propose({ parents });
    expect(await ask(rig, request)).toEqual(response);
    network.milestone({ parents });
    await takeNext(rig, db);
    expect(await ask(rig, request)).toEqual(response);
    const created = consumer.coins.map(({ id }) => id.toHex());
    expect(await values('SELECT id AS value FROM output WHERE created = 46')).toEqual(created);
  });
});

it('does not give the number of a block to another one, whatever became of it', async () => {
  const network = quietenedNetwork('numbers');
  const rig = await startLedger(db, network, 0, { retention: 10 });
  const owners = new Map<number, string>();
  for (let index = 1; index <= lastIndex(network); index++) {
    await followTo(rig, index);
    const blocks = await storedBlocks(db);
    expect(blocks.filter(({ number, id }) => (owners.get(number) ?? id) !== id)).toEqual([]);
    for (const { number, id } of blocks) owners.set(number, id);
    // orphans were dropped, the youngest blocks of all among them
    if (index === 50) expect(await values('SELECT dropped AS value FROM head')).not.toEqual([0]);
  }
  expect(owners.size).toBeGreaterThan(network.blocks.size * 0.9);
});

it.runIf(process.env.SLOW)(
  'can be cut off after any of its batches, and comes to the same end',
  async () => {
    const network = quietenedNetwork('cut off');
    const fill = async () => {
      const rig = await startLedger(db, network, 0);
      for (let index = 1; index <= 14; index++) await followTo(rig, index);
      for (let index = 15; index <= lastIndex(network); index++) await takeNext(rig, db);
      return rig;
    };
    await fill();
    await pruneAll({ idRetention: RETENTION });
    const expected = await contents();

    const rig = await fill();
    const random = new Random('cut off');
    const options = { step: 1, idRetention: RETENTION };
    let cuts = 0;
    for (let before = '', now = '.'; now !== before; ) {
      before = now;
      for (let runs = 0; runs < 6; runs++) {
        const until = random.between(0, 5);
        const dying = disturbed(db, async (_, batch) => {
          if (batch > until) throw new Error('killed');
        });
        await tidy(dying, options).catch((error: Error) => {
          expect(error.message).toBe('killed');
          cuts++;
        });
      }
      await askEverything(rig);
      await tidy(db, options);
      now = JSON.stringify(await contents());
    }
    expect(cuts).toBeGreaterThan(7);
    expect(await contents()).toEqual(expected);
  },
);

it('deletes nothing by a ledger index that no milestone has', async () => {
  const rig = await startLedger(db, quietenedNetwork('damaged head'), 0);
  await followTo(rig, 40);
  const kept = async () => [(await contents()).milestone, (await contents()).part];
  const before = await kept();
  await db.prepare('UPDATE head SET ledger = ledger + 1024').run();
  await expect(prune(db, RETENTION)).rejects.toThrow('rows of the table head');
  expect(await kept()).toEqual(before);
});

it('finds a head that is of an earlier moment than the milestones', async () => {
  const rig = await startLedger(db, quietenedNetwork('earlier head'), 0);
  await followTo(rig, 20);
  const [head] = (await db.prepare('SELECT * FROM head').all<Record<string, unknown>>()).results;
  await followTo(rig, 22);
  const columns = Object.keys(head!);
  const values = columns.map((column, i) => `${column} = ?${i + 1}`).join();
  await db
    .prepare(`UPDATE head SET ${values}`)
    .bind(...Object.values(head!))
    .run();
  await expect(prune(db, RETENTION)).rejects.toThrow(LedgerDamaged);
  await expect(readHead(db)).rejects.toThrow('rows of the tables head and milestone');
});

it('keeps 20 states fewer with each step while the disk is full, and 35 at least', async () => {
  const rig = await startLedger(db, quietenedNetwork('full disk'), 0);
  await followTo(rig, 58);
  const kept: unknown[] = [];
  for (let step = 0; step < 3; step++) kept.push((await prune(db, 100, { isFull: true }))?.kept);
  expect(kept).toEqual([38, 35, 35]);
  expect(await firstState()).toBe(58 - 35);
});

it('changes nothing of a ledger that an import brings between two of its batches', async () => {
  const network = new SyntheticNetwork({ seed: 'replaced while full' });
  const rig = await startLedger(db, network, 0);
  for (let index = 1; index <= 80; index++) {
    network.milestone(index > 1 ? { parents: [network.milestoneBlock!] } : {});
    await takeNext(rig, db);
    // a second table of IDs begins
    if (index === 40) await prune(db, RETENTION);
  }
  let imported: unknown;
  const replacing = disturbed(db, async (sql, batch) => {
    if (batch !== 2 || !sql.includes('DELETE FROM milestone')) return;
    await startLedger(db, network, 3);
    imported = await contents();
  });
  // the first table is due to go
  await prune(replacing, 100, { isFull: true, idRetention: RETENTION });
  expect(imported).toBeDefined();
  expect(await contents()).toEqual(imported);
});
