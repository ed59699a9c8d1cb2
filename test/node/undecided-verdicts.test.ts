/**
 * Transactions that come before the ones they spend from: their verdict stays undecided until the
 * output is known, and a request that needs it earlier has the follower make it
 * (src/ledger/write/resolve-verdicts.ts). The networks here know the right answer because of how
 * their transactions were made.
 */
import { describe, expect, it } from 'vitest';
import type { UnlockCondition } from '../../src/stardust/wire/unlock-condition.ts';
import {
  ask,
  followTo,
  type Rig,
  startLedger,
  startNew,
  storeNow,
  withoutVerdicts,
  withSplitPacks,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { storedBlock } from '../support/ledger/stored-blocks.ts';
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
  it.each([2, 3, 5, 20])(
    'for %i undecided transactions in a row, in packs of their own',
    async (n) => {
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
      const { request, response, cone } = network.propose({ parents: [root, last] });
      expect(cone.filter(({ state }) => state === 'included')).toHaveLength(n + 1);
      expect(await ask(rig, request)).toEqual(response);
    },
  );

  it('for 100 rivals that consume the same 128 outputs', async () => {
    const { network, rig, root } = await startNew(db, 'rivals');
    const by = network.account(0);
    const amount = COIN_AMOUNT / 128n;
    const each = basic(by, { amount });
    const made = network.transaction(network.genesisSpends.slice(0, 1), [
      ...Array.from({ length: 127 }, () => each),
      basic(by, { amount: COIN_AMOUNT - 127n * amount }),
    ]);
    const spends = made.coins.map((from) => ({ coin: from, by }));
    let parents = [root];
    for (let i = 0; i < 100; i++) {
      const rival = network.transaction(spends, [
        basic(network.account(i), { amount: COIN_AMOUNT }),
      ]);
      parents = [network.attachTransaction(rival, parents)];
    }
    await storeNow(withTips(rig, ...parents), db);
    const producer = network.attachTransaction(made, [root]);
    await storeNow(withTips(rig, producer), withoutVerdicts(db));
    const { request, response } = network.propose({ parents: [producer, ...parents] });
    expect(await ask(rig, request)).toEqual(response);
  });
});
