/** Damage of a row of `nft` that only its changes show (test/ledger/packs/each-check.test.ts). */
import { expect, it } from 'vitest';
import { readNftChanges } from '../../../src/modules/histories/nft-changes.ts';
import { issue, startNew } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { COIN_AMOUNT } from '../../support/network/synthetic-network.ts';
import { basic, nft } from '../../support/payloads/outputs.ts';

it('a burned NFT whose time of change is damaged is told as burned', async () => {
  const db = await openMemory();
  const nftId = 'a5'.repeat(32);
  const { network, rig, root } = await startNew(db, 'damaged change', {
    coins: (account) => [
      nft(account(0), { nftId: Uint8Array.fromHex(nftId), amount: COIN_AMOUNT }),
    ],
  });
  const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
  const burned = basic(network.account(1), { amount: COIN_AMOUNT });
  network.attachTransaction(network.transaction([spend], [burned]), [root]);
  await issue(rig, network);
  const change = 'UPDATE nft SET changed = 0 WHERE id = ?1 AND output IS NULL';
  expect((await db.prepare(change).bind(nftId).run()).meta.changes).toBe(1);
  expect(await readNftChanges(db, 1)).toMatchObject({ changes: [[nftId, null]] });
});
