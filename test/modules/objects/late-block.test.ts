/**
 * A block that is stored, or referenced, while a request asks the follower for it: the follower
 * does not serve it any more, and the first read, perhaps on a replica, did not have it yet.
 */
import { expect, it } from 'vitest';
import type { RouteContext } from '../../../src/http/route.ts';
import { blockRoutes } from '../../../src/modules/objects/routes/blocks.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

it('is read once more, on the primary', async () => {
  const network = new SyntheticNetwork({ seed: 'late block' });
  const blockId = network.note();
  network.milestone();
  const [before, now] = [await openMemory(), await openMemory()];
  await startLedger(before, network, 0);
  await followTo(await startLedger(now, network, 0), 1);
  const context = (known: boolean) =>
    ({
      request: new Request('https://edge.test/'),
      params: { blockId: known ? blockId : `0x${'ab'.repeat(32)}` },
      node: {
        session: (minLedgerIndex = 0) => (minLedgerIndex > 0 ? now : before),
        readUnstored: async () => undefined,
      },
      settings: { milestoneKeys: network.keys },
    }) as unknown as RouteContext;
  const { ledgerIndex, body } = await blockRoutes.readBlockMetadata.handle(context(true));
  expect(ledgerIndex).toBe(1);
  expect(JSON.parse(String(body))).toMatchObject({ blockId, referencedByMilestoneIndex: 1 });
  await expect(blockRoutes.readBlockMetadata.handle(context(false))).rejects.toThrow('no such');
});
