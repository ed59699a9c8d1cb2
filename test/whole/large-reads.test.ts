/**
 * Reads about many blocks go in steps (src/ledger/view/cone-blocks.ts,
 * src/ledger/packs/referenced-blocks.ts): of a halt of an hour, contents take more memory than an
 * isolate has.
 */

import { expect, it } from 'vitest';
import type { Database } from '../../src/ledger/core/database.ts';
import { readLedgerChanges } from '../../src/modules/objects/stored-milestone.ts';
import { explainWhiteFlag } from '../../src/modules/proofs/explain-white-flag.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import {
  disturbed,
  followTo,
  requestOf,
  startNew,
  storeNow,
  withSplitPacks,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';

const PACKS = 20;

/** Characters of the longest result of a batch that reads `pack_content`; 0 where none does. */
function measured(db: Database) {
  let longest = 0;
  const measure = async (sql: string, _: number, results: readonly D1Result[]) => {
    if (sql.includes('pack_content')) longest = Math.max(longest, JSON.stringify(results).length);
  };
  return { longest: () => longest, db: disturbed(db, async () => {}, measure) };
}

it('what a milestone changed takes no contents, and an explanation few at a time', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'large reads');
  let last = root;
  const blocks: string[] = [];
  const transfers = network.genesisCoins.slice(0, 4).map((coin) => network.transfer(coin, 1));
  for (let pack = 0; pack < PACKS; pack++) {
    const made = transfers[pack];
    last = made
      ? network.attachTransaction(made, [last])
      : network.note([last], crypto.getRandomValues(new Uint8Array(20_000)));
    blocks.push(last);
    await storeNow(withTips(withSplitPacks(rig), last), db);
  }
  const { request } = network.propose({ parents: [last] });
  const asked = requestOf(request);
  const explaining = measured(db);
  const explained = await explainWhiteFlag(explaining.db, asked, {
    rules: { keys: network.keys, verify: verifySignature },
  });
  if (!explained.ok) throw new Error(explained.detail);
  const ids = explained.blocks.map(({ blockId }) => `0x${blockId}`);
  expect(ids.filter((id) => blocks.includes(id))).toEqual(blocks);
  expect(explaining.longest()).toBeGreaterThan(20_000);
  // 4 packs with a block of 20 KB each
  expect(explaining.longest()).toBeLessThan(4 * 20_500 * 1.34);

  network.milestone({ parents: [last] });
  await followTo(rig, 2);
  const changing = measured(db);
  const changes = await readLedgerChanges(changing.db, { index: 2 });
  if (changes === undefined || changes === 'too-large') throw new Error('no changes');
  const created = transfers.flatMap(({ coins }) => coins.map(({ id }) => id.toHex()));
  const consumed = network.genesisCoins.slice(0, 4).map(({ id }) => id.toHex());
  expect(changes.created).toEqual(created.sort());
  expect(changes.consumed).toEqual(consumed.sort());
  expect(changing.longest()).toBe(0);
});
