/**
 * D1 runs 1,000 statements in an invocation, and a batch for 30 seconds. The batch that applies a
 * milestone has no more statements because its blocks are in many packs, or because what it spends is
 * long, and moves no long contents (src/ledger/write/apply-statements.ts).
 */
import { expect, it } from 'vitest';
import type { Database } from '../../../src/ledger/core/database.ts';
import { readQuery } from '../../../src/ledger/core/read-batch.ts';
import { findLedgerOutputs } from '../../../src/ledger/intake/known-outputs.ts';
import {
  readMilestoneContents,
  readSpentOutputs,
} from '../../../src/ledger/read/milestone-contents.ts';
import {
  disturbed,
  followTo,
  startNew,
  storeNow,
  withSplitPacks,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { COIN_AMOUNT } from '../../support/network/synthetic-network.ts';
import { basic, metadata } from '../../support/payloads/outputs.ts';

/** The database, which notes how many statements a batch has that applies a milestone. */
function counting(db: Database) {
  const applying: number[] = [];
  const counted = disturbed(db, async (sql, _, statements) => {
    if (/INTO milestone \(/.test(sql)) applying.push(statements);
  });
  return { counted, applying };
}

it('a milestone with blocks in 30 packs is applied by 20 statements or fewer', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'many packs');
  let last = root;
  for (let pack = 0; pack < 30; pack++) {
    const made = network.transfer(network.genesisCoins[pack % 5]!, 1);
    last = pack < 5 ? network.attachTransaction(made, [last]) : network.note([last]);
    await storeNow(withTips(withSplitPacks(rig), last), db);
  }
  const { counted, applying } = counting(db);
  rig.following.db = counted;
  network.milestone({ parents: [last] });
  await followTo(rig, 2);
  expect(applying).toHaveLength(1);
  expect(applying[0]).toBeLessThanOrEqual(20);
  const referenced = (await storedBlocks(db)).filter(({ milestone }) => milestone === 2);
  expect(referenced.length).toBeGreaterThanOrEqual(30);
  const applied = referenced.filter(({ reason }) => reason === 0);
  expect(applied).toHaveLength(5);
});

/** Three transactions of 128 inputs each. */
const SPENT = 384;

/** Applies a milestone that spends outputs whose metadata is as long, and tells of the batch. */
async function spendMany(length: number) {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'many spent', {
    coins: (account) =>
      Array.from({ length: SPENT }, (_, i) => {
        const text = metadata(new Uint8Array(length).fill(i));
        return basic(account(0), { amount: COIN_AMOUNT, features: [text] });
      }),
  });
  const by = network.account(0);
  let last = root;
  for (let first = 0; first < SPENT; first += 128) {
    const spends = network.genesisCoins.slice(first, first + 128).map((coin) => ({ coin, by }));
    const all = basic(by, { amount: 128n * COIN_AMOUNT });
    last = network.attachTransaction(network.transaction(spends, [all]), [last]);
  }
  const { counted, applying } = counting(db);
  rig.following.db = counted;
  network.milestone({ parents: [last] });
  await followTo(rig, 2);
  return { db, coins: network.genesisCoins, statements: applying.at(-1)! };
}

it('a milestone that spends 384 outputs of 8 KB has the statements of one that spends short ones', async () => {
  const short = await spendMany(1);
  const { db, coins, statements } = await spendMany(8192);
  expect(statements).toBe(short.statements);
  const { written, parts } = (await db
    .prepare(
      'SELECT sum(octet_length(spent)) AS written, count(*) AS parts FROM milestone_part WHERE key >= 2 * 4096',
    )
    .first<{ written: number; parts: number }>())!;
  expect(written).toBeLessThan(SPENT * 400);
  // whoever reads a part with the contents reads a few megabytes
  expect(parts).toBe(3);
  const due = new Map(coins.map(({ id, bytes }) => [id.toHex(), bytes.toHex()]));
  const found = await readQuery(db, findLedgerOutputs(db, [...due.keys()]));
  const whole = found.flatMap(({ id, bytes }): [string, string][] =>
    bytes ? [[id, bytes.toHex()]] : [],
  );
  expect(new Map(whole)).toEqual(due);
  const { contents } = await readMilestoneContents(db, 2, false);
  const steps = await Array.fromAsync(readSpentOutputs(db, contents!));
  expect(steps.flat().map(({ outputId, bytes }) => [outputId, bytes.toHex()])).toEqual([...due]);
});
