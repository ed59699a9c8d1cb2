/**
 * Transactions that come before the ones they spend from: their verdict stays undecided until the
 * output is known, and a request that needs it earlier has the follower make it
 * (src/ledger/write/resolve-verdicts.ts). The networks here know the right answer because of how
 * their transactions were made.
 */
import { describe, expect, it, vi } from 'vitest';
import { computeWhiteFlag, type WhiteFlagRoots } from '../../src/node/compute-white-flag.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import type { UnlockCondition } from '../../src/stardust/wire/unlock-condition.ts';
import {
  ask,
  bringFrom,
  disturbed,
  followTo,
  type Rig,
  requestOf,
  startLedger,
  startNew,
  storeNow,
  withoutVerdicts,
  withSplitPacks,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { awaitedOutputs, storedBlock } from '../support/ledger/stored-blocks.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../support/network/synthetic-network.ts';
import type { Defect } from '../support/network/transactions.ts';
import { basic, timelock } from '../support/payloads/outputs.ts';
import { stopClock } from '../support/stopped-clock.ts';

stopClock();

const db = await openMemory();

/** About the transaction in the middle, but for `lastDefect`. */
interface Case {
  name: string;
  conditions?: UnlockCondition[];
  defect?: Defect;
  lastDefect?: Defect;
}

/**
 * Three transactions in a row, each spending what the one before it made; nothing else connects
 * their blocks.
 */
function chain({ name: seed, conditions = [], defect, lastDefect }: Case) {
  const network = new SyntheticNetwork({ seed });
  network.milestone();
  const root = network.milestoneBlock!;
  const made = network.transaction(network.genesisSpends.slice(0, 1), [
    basic(network.account(1), { amount: COIN_AMOUNT, conditions }),
  ]);
  const spent = network.transfer(made.coins[0]!, 2, defect);
  const last = network.transfer(spent.coins[0]!, 3, lastDefect);
  const blocks = [made, spent, last].map((transaction) =>
    network.attachTransaction(transaction, [root]),
  );
  return { network, root, blocks };
}

const storeOnly = (rig: Rig, id: string, settles: boolean) =>
  storeNow(withTips(rig, id), settles ? db : withoutVerdicts(db));

const NOW = 1_700_000_010;
const CASES: Case[] = [
  { name: 'that applies' },
  { name: 'that applies, before one with a bad signature', lastDefect: 'signature' },
  { name: 'with a bad signature', defect: 'signature' },
  { name: 'with a bad commitment', defect: 'commitment' },
  { name: 'of a locked output', conditions: [timelock(NOW + 1)] },
  { name: 'of an output locked until now', conditions: [timelock(NOW)] },
];

describe.each(CASES)('a transaction $name', (each) => {
  const { network, root, blocks } = chain(each);

  describe.each([
    ['last first, and the verdicts made as they can be', [2, 1, 0], true],
    ['last first, and no verdict made', [2, 1, 0], false],
    ['in the middle first', [1, 2, 0], false],
    ['the first not stored at all', [2, 1], true],
    ['only the last stored', [2], true],
    ['only the one in the middle stored', [1], true],
    ['none stored', [], true],
  ])('%s', (_, arrival, settles) => {
    it('is answered for as it deserves, in any order of the walk', async () => {
      const rig = await startLedger(db, network, 0);
      rig.following.upstreams = [withTips(rig).upstream];
      await followTo(rig, 1);
      await storeOnly(rig, root, true);
      for (const at of arrival) await storeOnly(rig, blocks[at]!, settles);
      expect((await storedBlock(db, blocks[0]!)) !== undefined).toBe(arrival.includes(0));
      const [a, b, c] = blocks as [string, string, string];
      const answers = new Set<string>();
      for (const parents of [
        [a, b, c],
        [a, c, b],
        [b, a, c],
        [c, b, a],
        [b, c],
        [a, b],
      ]) {
        const { request, response } = network.propose({
          parents: [root, ...parents],
          timestamp: NOW,
        });
        expect([parents, await ask(rig, request, { upstreams: [rig.upstream] })]).toEqual([
          parents,
          response,
        ]);
        answers.add(response.appliedMerkleRoot);
      }
      // the order matters
      expect(answers.size).toBeGreaterThan(1);
    });
  });
});

describe('one request is enough', () => {
  /** So many undecided transactions, each upon the one before. */
  async function startRow(n: number) {
    const { network, rig, root } = await startNew(db, `row of ${n}`);
    let [coin] = network.genesisCoins;
    const blocks = Array.from({ length: n + 1 }, (_, i) => {
      const made = network.transfer(coin!, i + 1);
      [coin] = made.coins;
      return network.attachTransaction(made, [root]);
    });
    for (const id of blocks.toReversed())
      await storeNow(withTips(withSplitPacks(rig), id), withoutVerdicts(db));
    // parents are in the order of their IDs
    let last = root;
    for (const [i, id] of blocks.entries()) {
      const parents = [last, id];
      do last = network.note(parents);
      while (i < n && last > blocks[i + 1]!);
    }
    await storeNow(withTips(rig, last), withoutVerdicts(db));
    return { network, rig, parents: [root, last] };
  }

  it.each([2, 3, 5, 20])(
    'for %i undecided transactions in a row, in packs of their own',
    async (n) => {
      const { network, rig, parents } = await startRow(n);
      const { request, response, cone } = network.propose({ parents });
      expect(cone.filter(({ state }) => state === 'included')).toHaveLength(n + 1);
      expect(await ask(rig, request)).toEqual(response);
    },
  );

  it('for more undecided transactions than the follower is told of at once', async () => {
    const { network, rig, parents } = await startRow(20);
    const { request, response } = network.propose({ parents });
    const told: number[] = [];
    const bring = bringFrom(rig.following);
    const rules = { keys: network.keys, verify: verifySignature };
    const result = await computeWhiteFlag(db, requestOf(request), {
      rules,
      maxUndecided: 8,
      bring(wanted) {
        told.push(wanted.undecided.flatMap(([, numbers]) => numbers).length);
        return bring(wanted);
      },
    });
    expect(result).toMatchObject({ ok: true });
    expect(toHex((result as WhiteFlagRoots).appliedMerkleRoot)).toBe(response.appliedMerkleRoot);
    expect(told).toEqual([8, 8, 4]);
  });

  it('where a block was said not to come, and came meanwhile', async () => {
    const { network, rig, root } = await startNew(db, 'came meanwhile');
    const made = network.transfer(network.genesisCoins[0]!, 1);
    const producer = network.attachTransaction(made, [root]);
    const consumer = network.attachTransaction(network.transfer(made.coins[0]!, 2), [root]);
    for (const id of [consumer, producer]) await storeNow(withTips(rig, id), withoutVerdicts(db));
    const top = network.note([producer, consumer]);
    const { request, response } = network.propose({ parents: [root, top] });
    const bring = bringFrom(rig.following);
    const rules = { keys: network.keys, verify: verifySignature };
    const result = await computeWhiteFlag(db, requestOf(request), {
      rules,
      async bring(wanted) {
        if (wanted.blocks.length === 0) return bring(wanted);
        await storeNow(withTips(rig, top), withoutVerdicts(db));
        return { db, notBrought: { fault: 'referenced-before', detail: 'by whose word?' } };
      },
    });
    expect(result).toMatchObject({ ok: true });
    expect(toHex((result as WhiteFlagRoots).appliedMerkleRoot)).toBe(response.appliedMerkleRoot);
  });

  /** Three transactions that make 128 outputs each, and rivals that wait for these. */
  async function startRivals(seed: string) {
    const { network, rig, root } = await startNew(db, seed);
    const by = network.account(0);
    const amount = COIN_AMOUNT / 128n;
    const makers = network.genesisSpends.slice(0, 3).map((spend) => {
      const outputs = Array.from({ length: 128 }, () => basic(by, { amount }));
      return network.transaction([spend], outputs);
    });
    const rivalOver = (set: number, to: number, defect?: Defect) =>
      network.transaction(
        makers[set]!.coins.map((from) => ({ coin: from, by })),
        [basic(network.account(to), { amount: 128n * amount })],
        defect,
      );
    /** How often verdicts are written until one request is answered. */
    async function propose(rival: string, isStored = true): Promise<number> {
      const producers = makers.map((made) => network.attachTransaction(made, [root]));
      await storeNow(withTips(rig, ...producers), withoutVerdicts(db));
      const top = network.note([...producers, root]);
      if (isStored) await storeNow(withTips(rig, top), withoutVerdicts(db));
      let writes = 0;
      const counted = disturbed(db, async (sql) => {
        if (/UPDATE pack SET records/.test(sql)) writes++;
      });
      const { request, response } = network.propose({ parents: [top, rival] });
      const answer = await ask(rig, request, { db: counted, upstreams: [rig.upstream] });
      expect(answer).toEqual(response);
      return writes;
    }
    return { network, rig, root, rivalOver, propose };
  }

  it('for 100 rivals that consume the same 128 outputs', async () => {
    const { network, rig, root, rivalOver, propose } = await startRivals('rivals');
    let last = root;
    for (let i = 0; i < 100; i++) last = network.attachTransaction(rivalOver(0, i), [last]);
    await storeNow(withTips(rig, last), db);
    // one pack has the first; the others are in conflict with it
    expect(await propose(last)).toBe(1);
  });

  it.each([true, false])(
    'for rivals of which all but the last fail, in packs of their own; all stored: %s',
    async (isStored) => {
      const { network, rig, root, rivalOver, propose } = await startRivals('failing rivals');
      let last = root;
      for (let i = 0; i < 12; i++) {
        last = network.attachTransaction(rivalOver(0, i, i < 11 ? 'signature' : undefined), [last]);
        await storeNow(withTips(withSplitPacks(rig), last), db);
      }
      expect(await propose(last, isStored)).toBe(12);
    },
  );

  it('for rivals over three sets of outputs in turn, in two steps each round', async () => {
    const { network, rig, root, rivalOver, propose } = await startRivals('three sets');
    let last = root;
    for (let i = 0; i < 18; i++) {
      const defect = i < 15 ? 'signature' : undefined;
      last = network.attachTransaction(rivalOver(i % 3, i, defect), [last]);
    }
    await storeNow(withTips(rig, last), db);
    expect(await propose(last)).toBe(4);
  });

  it('for what needs a verdict alone, beside rivals in the same pack', async () => {
    const { network, rig, root, rivalOver, propose } = await startRivals('beside rivals');
    const rivals = Array.from({ length: 4 }, (_, i) =>
      network.attachTransaction(rivalOver(0, i), [root]),
    );
    await storeNow(withTips(rig, ...rivals), db);
    await propose(rivals[2]!);
    // the others still wait
    expect(await awaitedOutputs(db)).toHaveLength(128);
  });
});

it('a request makes verdicts for 1.4 s at most, and each stays made', async () => {
  const { network, rig, root } = await startNew(db, 'late verdicts');
  const by = network.account(0);
  const each = basic(by, { amount: COIN_AMOUNT / 128n });
  const makers = network.genesisSpends.slice(0, 12).map((spend) =>
    network.transaction(
      [spend],
      Array.from({ length: 128 }, () => each),
    ),
  );
  let last = root;
  for (const { coins } of makers) {
    const spends = coins.map((from) => ({ coin: from, by }));
    const made = network.transaction(spends, [basic(by, { amount: COIN_AMOUNT })]);
    last = network.attachTransaction(made, [last]);
  }
  await storeNow(withTips(rig, last), db);
  const producers = makers.map((made) => network.attachTransaction(made, [root]));
  await storeNow(withTips(rig, ...producers), withoutVerdicts(db));
  const top = [producers.slice(0, 6), producers.slice(6)].map((some) => network.note(some));
  await storeNow(withTips(rig, ...top), withoutVerdicts(db));
  let [now, writes] = [Date.now(), 0];
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  const slow = disturbed(db, async (sql) => {
    if (!/UPDATE pack SET records/.test(sql)) return;
    now += 500;
    writes++;
  });
  const { request, response } = network.propose({ parents: [root, ...top, last] });
  expect(await ask(rig, request, { db: slow })).toBe(500);
  expect(writes).toBe(3);
  expect(await ask(rig, request)).toEqual(response);
});
