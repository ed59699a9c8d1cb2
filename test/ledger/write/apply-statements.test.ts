/**
 * D1 runs 1,000 statements in an invocation. The batch that applies a milestone has no more of them
 * because its blocks are in many packs (src/ledger/write/apply-statements.ts).
 */
import { expect, it } from 'vitest';
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

it('a milestone with blocks in 30 packs is applied by 20 statements or fewer', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'many packs');
  let last = root;
  for (let pack = 0; pack < 30; pack++) {
    const made = network.transfer(network.genesisCoins[pack % 5]!, 1);
    last = pack < 5 ? network.attachTransaction(made, [last]) : network.note([last]);
    await storeNow(withTips(withSplitPacks(rig), last), db);
  }
  const applying: number[] = [];
  rig.following.db = disturbed(db, async (sql, _, statements) => {
    if (/INTO milestone \(/.test(sql)) applying.push(statements);
  });
  network.milestone({ parents: [last] });
  await followTo(rig, 2);
  expect(applying).toHaveLength(1);
  expect(applying[0]).toBeLessThanOrEqual(20);
  const referenced = (await storedBlocks(db)).filter(({ milestone }) => milestone === 2);
  expect(referenced.length).toBeGreaterThanOrEqual(30);
  const applied = referenced.filter(({ reason }) => reason === 0);
  expect(applied).toHaveLength(5);
});
