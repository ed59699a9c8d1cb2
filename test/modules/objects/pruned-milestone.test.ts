/** Blocks with a milestone, whose metadata names it for as long as they are kept, and copies of them. */
import { expect, it, vi } from 'vitest';
import type { Database } from '../../../src/ledger/core/database.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { forgedCopy } from '../../support/network/forged-copy.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

function readerOf(db: Database, network: SyntheticNetwork) {
  const settings = { milestoneKeys: network.keys };
  const fetch = fetchFrom({ node: { session: () => db }, settings });
  return async (id: string) => {
    const response = await fetch(`/api/core/v2/blocks/${id}/metadata`);
    const { milestoneIndex, referencedByMilestoneIndex } = await response.json<{
      milestoneIndex?: number;
      referencedByMilestoneIndex?: number;
    }>();
    return [milestoneIndex, referencedByMilestoneIndex];
  };
}

it('is named while the block is kept, though the milestone itself is pruned', async () => {
  const network = new SyntheticNetwork({ seed: 'pruned milestone' });
  network.milestone();
  const block = network.milestoneBlock!;
  for (let i = 0; i < 3; i++) network.milestone();
  const db = await openMemory();
  await followTo(await startLedger(db, network, 1), 4);
  await prune(db, 2);
  expect(await db.prepare('SELECT min(idx) AS first FROM milestone').first('first')).toBe(2);
  expect(await readerOf(db, network)(block)).toEqual([1, 2]);
});

it('metadata without it, while no keys are set, are kept by no cache', async () => {
  const network = new SyntheticNetwork({ seed: 'keys set later' });
  network.milestone();
  const block = network.milestoneBlock!;
  network.milestone();
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), 2);
  const cacheControls = [undefined, network.keys].map(async (milestoneKeys) => {
    const fetch = fetchFrom({ node: { session: () => db }, settings: { milestoneKeys } });
    const { headers } = await fetch(`/api/core/v2/blocks/${block}/metadata`);
    return headers.get('cache-control');
  });
  expect(await Promise.all(cacheControls)).toEqual([
    'no-store',
    'public, max-age=86400, immutable, stale-if-error=0',
  ]);
});

it('of a referenced block whose bytes are pruned no upstream is asked', async () => {
  const network = new SyntheticNetwork({ seed: 'pruned blocks' });
  const block = network.note();
  for (let i = 0; i < 4; i++) network.milestone();
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), 4);
  const path = `/api/core/v2/blocks/${block}`;
  const readUnstored = vi.fn(async () => ({
    blockId: block.slice(2),
    bytes: network.blocks.get(block)!.bytes,
    referenced: undefined,
    ledgerIndex: 4,
  }));
  const fetch = fetchFrom({ node: { session: () => db, readUnstored } });
  expect((await fetch(path)).status).toBe(200);
  await prune(db, 1);
  for (const each of [path, `${path}/metadata`]) expect((await fetch(each)).status).toBe(404);
  expect(readUnstored).not.toHaveBeenCalled();
});

it('is named by its own block, not by a copy with a bad signature', async () => {
  const { network, real, forged } = forgedCopy();
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), 2);
  const read = readerOf(db, network);
  expect([await read(real), await read(forged)]).toEqual([
    [1, 2],
    [undefined, 2],
  ]);
});
