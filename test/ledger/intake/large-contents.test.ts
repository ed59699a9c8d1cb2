/**
 * A block of 6 KB may consume 128 outputs of 21 KB each, which blocks in conflict create for nothing.
 * The contents that blocks consume are read some megabytes at a time (src/ledger/intake/prepare-blocks.ts),
 * and the upkeep makes the verdicts that would take more.
 */
import { expect, it } from 'vitest';
import { followOnce } from '../../../src/follower/pass.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { expectRoots } from '../../support/ledger/expect-roots.ts';
import { disturbed, startNew, storeNow, withTips } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { awaitedOutputs } from '../../support/ledger/stored-blocks.ts';
import { COIN_AMOUNT } from '../../support/network/synthetic-network.ts';
import type { Coin } from '../../support/network/transactions.ts';
import { basic, metadata, nft } from '../../support/payloads/outputs.ts';
import { stopClock } from '../../support/stopped-clock.ts';

// one call stores what it can within its time
stopClock();

const INPUTS = 128;

/** Each reading has the contents for two of them. */
const CONSUMERS = 7;

const MAX_LENGTH = 8_000_000;

/** Characters of the longest result of a batch. */
function measured(db: Database) {
  let longest = 0;
  const measure = async (_: string, __: number, results: readonly D1Result[]) => {
    longest = Math.max(longest, JSON.stringify(results).length);
  };
  return { longest: () => longest, db: disturbed(db, async () => {}, measure) };
}

it('contents of many large inputs are read in steps, and the upkeep does the rest', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'large inputs');
  const by = network.account(0);
  const large = metadata(new Uint8Array(8192).fill(7));
  const coins: Coin[] = [];
  let last = root;
  for (let i = 0; i < INPUTS * CONSUMERS; i++) {
    const amount = COIN_AMOUNT + BigInt(i);
    const output = nft(by, { amount, immutable: [large], features: [large] });
    const made = network.transaction(network.genesisSpends.slice(0, 1), [output]);
    last = network.attachTransaction(made, [last]);
    coins.push(made.coins[0]!);
    if (i % INPUTS === 0) await storeNow(withTips(rig, last), db);
  }
  await storeNow(withTips(rig, last), db);
  for (let i = 0; i < CONSUMERS; i++) {
    const spends = coins.slice(i * INPUTS, (i + 1) * INPUTS).map((coin) => ({ coin, by }));
    const made = network.transaction(spends, [basic(by, { amount: COIN_AMOUNT })]);
    last = network.attachTransaction(made, [last]);
  }
  const storing = measured(db);
  expect(await storeNow(withTips(rig, last), storing.db)).toBe(CONSUMERS);
  expect(storing.longest()).toBeGreaterThan(MAX_LENGTH / 2);
  expect(storing.longest()).toBeLessThan(MAX_LENGTH);

  const passing = measured(db);
  const following = { ...rig.following, db: passing.db };
  await followOnce(following, { deadline: Date.now() + 20_000, milestones: 1 });
  expect(passing.longest()).toBeLessThan(MAX_LENGTH);
  expect(await awaitedOutputs(db)).toEqual([]);
  await expectRoots(rig, network, [root, last]);
});
