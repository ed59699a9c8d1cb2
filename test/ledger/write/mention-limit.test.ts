/**
 * A block of 12 KB may mention 256 outputs, which the follower keeps in memory
 * (src/ledger/write/unreferenced-index.ts): so mentions have a limit too.
 */
import { expect, it } from 'vitest';
import { dropUnneeded } from '../../../src/ledger/write/drop-blocks.ts';
import { startNew, storeNow, withTips } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { knownBlockIds } from '../../support/ledger/stored-blocks.ts';
import { coin } from '../../support/network/transactions.ts';
import { basic } from '../../support/payloads/outputs.ts';

it('few blocks that mention many outputs are evicted, down to the limit', async () => {
  const db = await openMemory();
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
  const { index } = rig.following.memory;
  const readTips = async () => [tip.slice(2)];
  const limits = { blocks: 1000, bytes: 1e9, mentions: 4 * 256 };
  for (let evicted = 1; evicted > 0; )
    ({ evicted } = await dropUnneeded(db, index, readTips, limits));
  const left = await knownBlockIds(db);
  expect(left.has(tip.slice(2))).toBe(true);
  expect(left.size).toBeLessThanOrEqual(before - 4);
  expect(left.size).toBeGreaterThan(before - 8);
});
