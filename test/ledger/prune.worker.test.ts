/**
 * Pruning (src/ledger/prune.ts): what can still be asked for gets the answer that it always got, all else 404; what nothing needs is gone; and it does not
 * matter where a step was cut off.
 */
import '../support/vectors-in-workerd.ts';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { type PruneOptions, prune } from '../../src/ledger/prune.ts';
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
} from '../support/ledger/ledger-harness.ts';
import { lastIndex, ledgerAt } from '../support/network/network-model.ts';
import { basic } from '../support/network/outputs.ts';
import { Random } from '../support/network/random.ts';
import { randomNetwork } from '../support/network/random-network.ts';
import {
  type RecordedName,
  recordedNetwork,
  recordedQuestions,
} from '../support/network/recorded-network.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../support/network/synthetic-network.ts';

vi.setConfig({ testTimeout: 300_000 });

const db = env.LEDGER;
const RETENTION = 35;

async function firstState(): Promise<number> {
  return Number(await db.prepare('SELECT min(idx) AS first FROM milestone').first('first'));
}

/** Puts the question of every milestone so far, and sees that each is answered as it should be at this state of pruning. */
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

async function values(sql: string): Promise<unknown[]> {
  return (await db.prepare(sql).all<{ value: unknown }>()).results.map(({ value }) => value);
}

/** All tables that pruning touches. */
async function contents(): Promise<Record<string, unknown[]>> {
  const tables = ['milestone', 'block', 'block_bytes', 'input', 'waiting', 'output', 'spent'];
  const rows = tables.map(
    async (table) => [table, (await db.prepare(`SELECT * FROM ${table}`).all()).results] as const,
  );
  return Object.fromEntries(await Promise.all(rows));
}

describe.each<RecordedName>(['network-a', 'network-c'])('%s', (name) => {
  const network = recordedNetwork(name);
  const proposals = recordedQuestions(name).filter(({ status }) => status === 200);

  it('gets the roots about the states kept and 404 about the others, at every turn', async () => {
    const rig = await startLedger(db, network, network.genesis.index, { retention: RETENTION });
    for (let index = network.genesis.index; index <= lastIndex(network); index++) {
      await followTo(rig, index);
      expect(await firstState()).toBe(Math.max(network.genesis.index, index - RETENTION));
      if (index % 10 === 0 || index === lastIndex(network)) await askEverything(rig);
    }
    const first = await firstState();
    const kept = proposals.filter(({ request }) => (request as Question).index > first);
    let unknown = 0;
    for (const { request, response } of kept) {
      const answer = await ask(rig, request as Question);
      // a proposal may have had blocks that no milestone references: they are dropped some day, and then not known
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

/** The next milestone references a new block and nothing else that is open. */
function quietMilestone(network: SyntheticNetwork): void {
  network.milestone({
    parents: [network.milestoneBlock!, network.note([network.milestoneBlock!])],
  });
}

/** A network in which much happens for a while, and then nothing for longer than anything is kept. What is open then stays so. */
function quietenedNetwork(seed: string): SyntheticNetwork {
  const network = randomNetwork({ seed, milestones: 14, events: 40 });
  const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
  const orphan = network.transaction([spend], [basic(network.account(1), COIN_AMOUNT)]);
  network.attachTransaction(orphan, [network.milestoneBlock!]);
  while (network.milestones.length < 60) quietMilestone(network);
  return network;
}

async function pruneAll(options: PruneOptions = {}): Promise<void> {
  for (let before = '', now = '.'; now !== before; ) {
    before = now;
    await prune(db, RETENTION, options);
    now = JSON.stringify(await contents());
  }
}

it('leaves nothing but what is needed', async () => {
  const network = quietenedNetwork('leaves nothing');
  const rig = await startLedger(db, network, 0);
  for (let index = 1; index <= 14; index++) await followTo(rig, index);
  const before = await contents();
  const highest = () =>
    values('SELECT max(row) AS value FROM output UNION ALL SELECT max(row) FROM block');
  for (let index = 15; index <= lastIndex(network); index++) await followTo(rig, index);
  const rows = await highest();
  await pruneAll({ idRetention: 40 });
  const ledger = lastIndex(network);
  const first = ledger - RETENTION;
  await askEverything(rig);

  // something of each kind was there to go
  const reasons = new Set(before.block!.map((row) => (row as { reason: number | null }).reason));
  expect([...reasons]).toEqual(expect.arrayContaining([0, 1, 2, 3, null]));
  for (const table of ['input', 'waiting', 'spent'] as const) expect(before[table]).not.toEqual([]);
  expect(await values('SELECT idx AS value FROM milestone ORDER BY idx')).toEqual(
    Array.from({ length: RETENTION + 1 }, (_, i) => first + i),
  );

  const referenced = [...network.blocks.values()].filter((block) => block.referenced !== undefined);
  const idsOf = (blocks: typeof referenced) => blocks.map(({ id }) => id.slice(2)).sort();
  const kept = idsOf(referenced.filter((block) => block.referenced!.index >= first));
  const known = idsOf(referenced.filter((block) => block.referenced!.index >= ledger - 40));
  // the last milestone's block is the only open one
  const open = [network.milestoneBlock!.slice(2)];
  expect(await values('SELECT id AS value FROM block ORDER BY id')).toEqual(
    [...known, ...open].sort(),
  );
  const withBytes =
    'SELECT b.id AS value FROM block b JOIN block_bytes x ON x.row = b.row WHERE b.record IS NOT NULL ORDER BY b.id';
  expect(await values(withBytes)).toEqual([...kept, ...open].sort());
  const counts =
    'SELECT count(*) AS value FROM block_bytes UNION ALL SELECT count(record) FROM block';
  expect(await values(counts)).toEqual([kept.length + 1, kept.length + 1]);
  expect(
    await values(
      'SELECT id AS value FROM block WHERE record IS NULL AND (tx IS NOT NULL OR position IS NOT NULL)',
    ),
  ).toEqual([]);

  const unspent = ledgerAt(network, ledger).map(({ outputId }) => outputId.toHex());
  // row numbers must not come back: so the highest stays, whatever it is, where nothing happened for so long
  const last = await values('SELECT id AS value FROM output ORDER BY row DESC LIMIT 1');
  expect(await values('SELECT id AS value FROM output ORDER BY id')).toEqual(
    [...new Set([...unspent, ...last])].sort(),
  );
  expect(unspent).not.toEqual(expect.arrayContaining(last));
  expect(await highest()).toEqual(rows);
  for (const table of ['input', 'waiting', 'spent'])
    expect(await values(`SELECT * FROM ${table}`)).toEqual([]);
});

describe('an output that never came into the ledger', () => {
  it('is kept as long as a block mentions it, and so can still come', async () => {
    const network = new SyntheticNetwork({ seed: 'mentioned' });
    network.milestone();
    const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
    const producer = network.transaction([spend], [basic(network.account(1), COIN_AMOUNT)]);
    const made = { coin: producer.coins[0]!, by: network.account(1) };
    const consumer = network.transaction([made], [basic(network.account(2), COIN_AMOUNT)]);
    const early = network.attachTransaction(consumer, [network.milestoneBlock!]);
    network.milestone({ parents: [network.milestoneBlock!, early] });
    while (network.milestones.length < 45) quietMilestone(network);
    const rig = await startLedger(db, network, 0);
    while ((await ledgerIndex(db)) < 45) await takeNext(rig, db);

    // it comes again, after the transaction that it needs
    const late = network.attachTransaction(consumer, [
      network.attachTransaction(producer, [network.milestoneBlock!]),
    ]);
    await storeNow(rig, db);
    await pruneAll();
    expect(
      await values(`SELECT record AS value FROM block WHERE id = '${early.slice(2)}'`),
    ).toEqual([null]);
    const parents = [network.milestoneBlock!, late];
    const { request, response } = network.propose({ parents });
    expect(await ask(rig, request)).toEqual(response);
    network.milestone({ parents });
    await takeNext(rig, db);
    expect(await ask(rig, request)).toEqual(response);
    const created = consumer.coins.map(({ id }) => id.toHex());
    expect(
      await values('SELECT id AS value FROM output WHERE created = 46 AND spent IS NULL'),
    ).toEqual(created);
  });
});

it('does not let the number of a row come back', async () => {
  const network = new SyntheticNetwork({ seed: 'rows' });
  network.milestone();
  const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
  const producer = network.transaction([spend], [basic(network.account(1), COIN_AMOUNT)]);
  const made = producer.coins[0]!;
  const consumer = network.transaction(
    [{ coin: made, by: network.account(1) }],
    [basic(network.account(2), COIN_AMOUNT)],
  );
  const rig = await startLedger(db, network, 0);
  await takeNext(rig, db);
  // the consumer comes first: what it consumes gets the highest row
  const blocks = [consumer, producer].map((each) =>
    network.attachTransaction(each, [network.milestoneBlock!]),
  );
  for (const id of blocks) {
    await storeNow(
      { ...rig, upstream: { ...rig.upstream, readTips: async () => [id.slice(2)] } },
      db,
    );
  }
  for (const id of blocks.reverse()) network.milestone({ parents: [network.milestoneBlock!, id] });
  while (network.milestones.length < 45) quietMilestone(network);
  while ((await ledgerIndex(db)) < 45) await takeNext(rig, db);
  const highest = 'SELECT id AS value FROM output ORDER BY row DESC LIMIT 1';
  expect(await values(highest)).toEqual([made.id.toHex()]);
  expect(await values('SELECT milestone AS value FROM spent ORDER BY output DESC LIMIT 1')).toEqual(
    [3],
  );
  await pruneAll();
  expect(await values(highest)).toEqual([made.id.toHex()]);
  expect(await values('SELECT * FROM spent')).toEqual([]);
});

it('can be cut off after any of its batches, and comes to the same end', async () => {
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
  const options = { step: 23, idRetention: RETENTION };
  let cuts = 0;
  for (let before = '', now = '.'; now !== before; ) {
    before = now;
    for (let runs = 0; runs < 4; runs++) {
      const until = random.between(0, 4);
      const dying = disturbed(db, async (_, batch) => {
        if (batch > until) throw new Error('killed');
      });
      await prune(dying, RETENTION, options).catch((error: Error) => {
        expect(error.message).toBe('killed');
        cuts++;
      });
    }
    await askEverything(rig);
    await prune(db, RETENTION, options);
    now = JSON.stringify(await contents());
  }
  expect(cuts).toBeGreaterThan(10);
  expect(await contents()).toEqual(expected);
});
