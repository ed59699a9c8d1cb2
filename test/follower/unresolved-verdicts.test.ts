/**
 * Verdicts that wait for an output (src/ledger/write/resolve-verdicts.ts): whatever failed, a later
 * pass makes them, in bounded steps, and no milestone waits for good.
 */
import { describe, expect, it } from 'vitest';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { LedgerMoved } from '../../src/ledger/core/fence.ts';
import { readHead } from '../../src/ledger/core/head.ts';
import { dropUnneeded } from '../../src/ledger/write/drop-blocks.ts';
import { resolveVerdicts } from '../../src/ledger/write/resolve-verdicts.ts';
import { createUnreferencedIndex } from '../../src/ledger/write/unreferenced-index.ts';
import { computeWhiteFlag, type WhiteFlagRoots } from '../../src/node/compute-white-flag.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { expectRoots } from '../support/ledger/expect-roots.ts';
import {
  ask,
  disturbed,
  followTo,
  issueQuiet,
  ledgerIndex,
  passOnce,
  requestOf,
  rootsOf,
  startNew,
  storeNow,
  takeNext,
  withoutVerdicts,
  withSplitPacks,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { awaitedOutputs, knownBlockIds } from '../support/ledger/stored-blocks.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { COIN_AMOUNT, type SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { type Coin, coin, type MadeTransaction } from '../support/network/transactions.ts';
import { basic } from '../support/payloads/outputs.ts';

/** Each batch that would write a verdict fails. */
const failing = (db: Database) => withoutVerdicts(db, 'D1_ERROR: Network connection lost.');

describe('a transaction whose verdict was not written, as the batch failed', () => {
  async function start() {
    const db = await openMemory();
    const { network, rig, root } = await startNew(db, 'verdict not written');
    const made = network.transfer(network.genesisCoins[0]!, 1);
    const waiter = network.attachTransaction(network.transfer(made.coins[0]!, 2), [root]);
    await storeNow(withTips(rig, waiter), db);
    const producer = network.attachTransaction(made, [root]);
    await storeNow(withTips(rig, producer), failing(db));
    expect(await awaitedOutputs(db)).toEqual([made.coins[0]!.id.toHex()]);
    return { db, network, rig, producer, waiter };
  }

  it('gets it in the next pass, of a new object too', async () => {
    const { db, rig } = await start();
    rig.following.memory = createFollowerMemory();
    await passOnce(rig);
    expect(await awaitedOutputs(db)).toEqual([]);
  });

  it('stops proposals and milestones only for as long as every such batch fails', async () => {
    const { db, network, rig, producer, waiter } = await start();
    network.milestone({ parents: [producer] });
    rig.following.db = failing(db);
    await followTo(rig, 2);
    const { request, response } = network.propose({ parents: [network.milestoneBlock!, waiter] });
    await expect(ask(rig, request, { db: failing(db) })).rejects.toThrow('connection lost');
    rig.following.db = db;
    expect(await ask(rig, request)).toEqual(response);
    network.milestone({ parents: [network.milestoneBlock!, waiter] });
    await followTo(rig, 3);
    expect(await ledgerIndex(db)).toBe(3);
  });

  it('is no damage where another follower makes it, before any batch of a milestone', async () => {
    let batches = 1;
    for (let at = 1; batches >= at - 1; at++) {
      const { db, network, rig, producer, waiter } = await start();
      network.milestone({ parents: [producer, waiter] });
      const meanwhile = disturbed(db, async (_, batch) => {
        batches = batch;
        if (batch !== at) return;
        const index = createUnreferencedIndex();
        const head = (await readHead(db))!;
        await resolveVerdicts(db, { index, head, verify: verifySignature }, 3);
      });
      await takeNext(rig, meanwhile).catch(async (error: unknown) => {
        if (!(error instanceof LedgerMoved)) throw error;
        // as the next pass does
        await takeNext(rig, db);
      });
      expect(await ledgerIndex(db)).toBe(2);
    }
    expect(batches).toBeGreaterThan(3);
  });
});

it('another follower that drops blocks of the same pack meanwhile is no damage', async () => {
  const outcomes = new Set<string>();
  // before each batch in turn, and once after the last
  let batches = 1;
  for (let at = 1; batches >= at - 1; at++) {
    const db = await openMemory();
    const { network, rig, root } = await startNew(db, 'dropped meanwhile');
    const aside = network.note([root]);
    const made = network.transfer(network.genesisCoins[0]!, 1);
    const waiter = network.attachTransaction(network.transfer(made.coins[0]!, 2), [root]);
    const producer = network.attachTransaction(made, [root]);
    for (const id of [aside, waiter, producer]) await storeNow(withTips(rig, id), failing(db));
    const readTips = async () => [waiter, producer].map((id) => id.slice(2));
    const meanwhile = disturbed(db, async (_, batch) => {
      batches = batch;
      if (batch !== at) return;
      const other = createUnreferencedIndex();
      const dropped = await dropUnneeded(db, other, readTips, { blocks: 1, bytes: 1e9 });
      expect(dropped.evicted).toBe(1);
    });
    const { index } = rig.following.memory;
    index.noteSearched(0);
    const head = (await readHead(db))!;
    const outcome = await resolveVerdicts(meanwhile, { index, head, verify: verifySignature }, 3)
      .then(() => 'made')
      .catch((error: Error) => error.name);
    outcomes.add(outcome);
  }
  expect([...outcomes].sort()).toEqual(['LedgerMoved', 'made']);
});

it('transactions whose creators lost are not tried for ever before one that can be decided', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'lost creators');
  const by = network.account(0);
  const parts = (count: bigint) =>
    Array.from({ length: Number(count) }, () => basic(by, { amount: COIN_AMOUNT / count }));
  const gather = (made: readonly Coin[]) => {
    const amount = made.reduce((sum, { output }) => sum + output.amount, 0n);
    return network.transaction(
      made.map((each) => ({ coin: each, by })),
      [basic(by, { amount })],
    );
  };
  const [one, two, three] = network.genesisSpends;
  let top = root;
  const attach = (made: MadeTransaction) => {
    top = network.attachTransaction(made, [top]);
  };
  attach(network.transaction([one!, two!], [basic(by, { amount: 2n * COIN_AMOUNT })]));
  const rivals = [one!, two!].map((spend) => network.transaction([spend], parts(128n)));
  for (const each of rivals) attach(each);
  const lost = top;
  const hidden = network.transaction([three!], parts(4n));
  // as many inputs as one step decides, of which one each is not known yet
  for (const [i, { coins }] of rivals.entries())
    attach(gather([...coins.slice(1), hidden.coins[i]!]));
  attach(gather(hidden.coins.slice(2, 3)));
  await storeNow(withTips(rig, top), db);
  for (const parent of [lost, network.attachTransaction(hidden, [root])]) {
    network.milestone({ parents: [network.milestoneBlock!, parent] });
    await takeNext(rig, db);
  }
  const { index } = rig.following.memory;
  index.noteSearched(0);
  const head = (await readHead(db))!;
  expect(await resolveVerdicts(db, { index, head, verify: verifySignature }, 9)).toBe(false);
  const awaited = await awaitedOutputs(db);
  expect(awaited.sort()).toEqual(hidden.coins.slice(0, 2).map(({ id }) => id.toHex()));
});

it('an output whose newer block was dropped is still found in the older one', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'two producers');
  const made = network.transfer(network.genesisCoins[0]!, 1);
  const first = network.attachTransaction(made, [root]);
  const tips = [first, network.note([root]), network.attachTransaction(made, [first])];
  for (const tip of tips) await storeNow(withTips(withSplitPacks(rig), tip), db);
  const { index } = rig.following.memory;
  const readTips = async () => tips.slice(0, 2).map((id) => id.slice(2));
  const limits = { blocks: 1, bytes: 1e9 };
  expect(await dropUnneeded(db, index, readTips, limits)).toMatchObject({ evicted: 1 });
  expect((await knownBlockIds(db)).has(tips[2]!.slice(2))).toBe(false);
  const consumer = network.attachTransaction(network.transfer(made.coins[0]!, 2), [root]);
  await storeNow(withTips(rig, consumer), db);
  expect(await awaitedOutputs(db)).toEqual([]);
});

it('nothing is written where another input is still missing, however often one comes', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'attached again');
  const split = withSplitPacks(rig);
  const by = network.account(1);
  const made = network.transfer(network.genesisCoins[0]!, 1);
  const output = basic(by, { amount: COIN_AMOUNT });
  const never = coin(new Uint8Array(34).fill(7, 0, 32), output);
  for (let i = 0; i < 3; i++) {
    const spends = [made.coins[0]!, never].map((each) => ({ coin: each, by }));
    const waiter = network.transaction(spends, [basic(by, { amount: 2n * COIN_AMOUNT })]);
    await storeNow(withTips(split, network.attachTransaction(waiter, [root])), db);
  }
  let written = 0;
  let last = root;
  const counting = disturbed(db, async (sql) => {
    if (/UPDATE pack SET records/.test(sql)) written++;
  });
  for (let i = 0; i < 3; i++) {
    last = network.attachTransaction(made, [last]);
    expect(await storeNow(withTips(split, last), counting)).toBe(1);
    await passOnce({ ...split, following: { ...split.following, db: counting } });
  }
  expect(written).toBe(0);
});

it('verdicts of new packs are made, however often something comes for which all are searched', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'searched again');
  const split = withSplitPacks(rig);
  const by = network.account(1);
  const store = (transaction: MadeTransaction, parent = root) =>
    storeNow(withTips(split, network.attachTransaction(transaction, [parent])), db);
  // more packs than one storing step searches wait for what never comes
  for (let i = 0; i < 12; i++) {
    const never = coin(new Uint8Array(34).fill(i + 1, 0, 32), basic(by, { amount: COIN_AMOUNT }));
    await store(network.transaction([{ coin: never, by }], [basic(by, { amount: COIN_AMOUNT })]));
  }
  const made = network.transfer(network.genesisCoins[0]!, 1);
  await store(network.transfer(made.coins[0]!, 2));
  let last = root;
  for (let i = 0; i < 4; i++) {
    last = network.attachTransaction(made, [last]);
    await storeNow(withTips(split, last), db);
  }
  expect(await awaitedOutputs(db)).not.toContain(made.coins[0]!.id.toHex());
});

it('is made though another follower stores what it waits for, behind a search under way', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'stored by another');
  const split = withSplitPacks(rig);
  const store = (transaction: MadeTransaction, into = split) =>
    storeNow(withTips(into, network.attachTransaction(transaction, [root])), db);
  const made = network.transfer(network.genesisCoins[0]!, 1);
  await store(network.transfer(made.coins[0]!, 2));
  const by = network.account(1);
  for (let i = 0; i < 8; i++) {
    const never = coin(new Uint8Array(34).fill(i + 1, 0, 32), basic(by, { amount: COIN_AMOUNT }));
    await store(network.transaction([{ coin: never, by }], [basic(by, { amount: COIN_AMOUNT })]));
  }
  const { index } = rig.following.memory;
  const tools = { index, head: (await readHead(db))!, verify: verifySignature };
  index.noteSearched(0);
  await resolveVerdicts(db, tools, 1);
  const following = { ...rig.following, memory: createFollowerMemory() };
  const other = withTips({ ...rig, following }, network.attachTransaction(made, [root]));
  await storeNow(other, withoutVerdicts(db));
  await resolveVerdicts(db, tools, 16);
  expect(await awaitedOutputs(db)).not.toContain(made.coins[0]!.id.toHex());
});

describe('a transaction with an input whose content is gone, as its creator was in conflict', () => {
  /** A transaction that consumes an output that never was. */
  const ghost = (network: SyntheticNetwork, fill: number, outputs: number) => {
    const by = network.account(1);
    const id = new Uint8Array(34).fill(fill, 0, 32);
    const amount = 1_000_000n * BigInt(outputs);
    const made = Array.from({ length: outputs }, () => basic(by, { amount: 1_000_000n }));
    return network.transaction([{ coin: coin(id, basic(by, { amount })), by }], made);
  };

  it('keeps no other transaction of its pack from its verdict', async () => {
    const db = await openMemory();
    const { network, rig, root } = await startNew(db, 'lost content');
    const by = network.account(1);
    const gone = ghost(network, 1, 128);
    const late = ghost(network, 2, 2);
    const goneBlock = network.attachTransaction(gone, [root]);
    await storeNow(withTips(rig, goneBlock), db);
    // as many inputs as a step decides, all of them known but one
    for (const awaited of late.coins) {
      const spends = [...gone.coins.slice(0, 127), awaited].map((each) => ({ coin: each, by }));
      const waiter = network.transaction(spends, [basic(by, { amount: 128_000_000n })]);
      await storeNow(withTips(rig, network.attachTransaction(waiter, [root])), db);
    }
    const made = network.transfer(network.genesisCoins[0]!, 1);
    const good = network.attachTransaction(network.transfer(made.coins[0]!, 2), [root]);
    await storeNow(withTips(rig, good), db);
    network.milestone({ parents: [root, goneBlock] });
    await followTo(rig, 2);
    rig.following.memory = createFollowerMemory();
    const tip = network.milestoneBlock!;
    const producers = [late, made].map((each) => network.attachTransaction(each, [tip]));
    await storeNow(withTips(rig, ...producers), db);
    await passOnce(rig);
    expect(await awaitedOutputs(db)).not.toContain(made.coins[0]!.id.toHex());
    network.milestone({ parents: [tip, good, producers[1]!] });
    network.milestone({ parents: [network.milestoneBlock!] });
    await followTo(rig, 4);
  });
});

it('an output is awaited no more once the block that consumes it is dropped', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'dropped waiter');
  const waiters = [0, 1].map((place) => {
    const made = network.transfer(network.genesisCoins[place]!, 1);
    const block = network.attachTransaction(network.transfer(made.coins[0]!, 2), [root]);
    return { block, awaits: made.coins[0]!.id.toHex() };
  });
  for (const { block } of waiters) await storeNow(withTips(rig, block), db);
  const [gone, kept] = waiters;
  const { index } = rig.following.memory;
  const readTips = async () => [kept!.block.slice(2)];
  const limits = { blocks: 1, bytes: 1e9 };
  expect(await dropUnneeded(db, index, readTips, limits)).toMatchObject({ evicted: 1 });
  expect((await knownBlockIds(db)).has(gone!.block.slice(2))).toBe(false);
  expect(await awaitedOutputs(db)).toEqual([kept!.awaits]);
});

describe('transactions without a verdict with more inputs than one step decides', () => {
  async function start() {
    const db = await openMemory();
    const { network, rig, root } = await startNew(db, 'many undecided');
    const by = network.account(0);
    const each = basic(by, { amount: COIN_AMOUNT / 100n });
    const hundred = Array.from({ length: 100 }, () => each);
    const spends = network.genesisSpends.slice(0, 3);
    const makers = spends.map((spend) => network.transaction([spend], hundred));
    const waiters = makers.map(({ coins }) => {
      const inputs = coins.map((from) => ({ coin: from, by }));
      const made = network.transaction(inputs, [basic(by, { amount: COIN_AMOUNT })]);
      return network.attachTransaction(made, [root]);
    });
    for (const waiter of waiters) await storeNow(withTips(rig, waiter), db);
    const producers = makers.map((made) => network.attachTransaction(made, [root]));
    for (const producer of producers) await storeNow(withTips(rig, producer), failing(db));
    return { db, network, rig, parents: [root, ...producers, ...waiters] };
  }

  it('are decided for a request', async () => {
    const { network, rig, parents } = await start();
    await expectRoots(rig, network, parents);
  });

  it('are decided by a pass in small batches', async () => {
    const { db, network, rig, parents } = await start();
    const { request, response } = network.propose({ parents });
    let longest = 0;
    rig.following.db = disturbed(db, async (_, __, statements) => {
      longest = Math.max(longest, statements);
    });
    await passOnce(rig);
    expect(longest).toBeLessThan(15);
    expect(await ask(rig, request)).toEqual(response);
  });

  it('are decided for a milestone before it is applied', async () => {
    const { network, rig, parents } = await start();
    network.milestone({ parents });
    await followTo(rig, 2);
  });
});

describe('what a pack says of outputs that its blocks wait for only finds packs', () => {
  /** Three packs: of an orphan, of a transaction that waits, and of what it waits for. */
  async function start() {
    const db = await openMemory();
    const { network, rig, root } = await startNew(db, 'damaged unresolved');
    const splitting = withSplitPacks(rig);
    const store = (id: string) => storeNow(withTips(splitting, id), failing(db));
    const orphan = network.note([root]);
    await store(orphan);
    const made = network.transfer(network.genesisCoins[0]!, 1);
    const waiter = network.attachTransaction(network.transfer(made.coins[0]!, 2), [root]);
    await store(waiter);
    const producer = network.attachTransaction(made, [root]);
    await store(producer);
    rig.following.memory = createFollowerMemory();
    return { db, network, rig, orphan, waiter, producer };
  }

  const damage = (db: Database, value: string, block: string) =>
    db
      .prepare('UPDATE pack SET unresolved = ?1 WHERE instr(blocks, ?2) > 0')
      .bind(value, block.slice(2))
      .run();

  it.each(['Z]', '["', '[]\u0001'])(
    '%j of one pack: verdicts of others are made',
    async (value) => {
      const { db, rig, network, orphan, waiter } = await start();
      await damage(db, value, orphan);
      const { index } = rig.following.memory;
      const head = (await readHead(db))!;
      for (let steps = 0; steps < 3; steps++)
        await resolveVerdicts(db, { index, head, verify: verifySignature }, 3);
      const { request, response } = network.propose({ parents: [network.milestoneBlock!, waiter] });
      // without the follower, which would make it
      const result = await computeWhiteFlag(db, requestOf(request), { rules: rig.following });
      expect(rootsOf(result as WhiteFlagRoots)).toEqual(response);
    },
  );

  it.each(['Z]', '[]'])('%j: orphans go, and a milestone makes the verdict', async (value) => {
    const { db, network, rig, orphan, waiter, producer } = await start();
    await damage(db, value, orphan);
    await damage(db, value, waiter);
    for (const block of [producer, waiter]) {
      network.milestone({ parents: [network.milestoneBlock!, block] });
      await takeNext(rig, db);
    }
    while (lastIndex(network) < 30) await issueQuiet(rig, network);
    const step = () => dropUnneeded(db, createUnreferencedIndex(), async () => []);
    expect(await step()).toMatchObject({ orphans: 1 });
    expect((await knownBlockIds(db)).has(orphan.slice(2))).toBe(false);
  });
});
