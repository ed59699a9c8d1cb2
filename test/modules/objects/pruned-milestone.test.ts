/** The block with the snapshot's milestone, whose metadata names that for as long as it is kept. */
import { expect, it } from 'vitest';
import { readBlock } from '../../../src/ledger/read/stored-block.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { findMilestone } from '../../../src/modules/objects/stored-milestone.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

it('is found while the block is kept, though the milestone itself is pruned', async () => {
  const network = new SyntheticNetwork({ seed: 'pruned milestone' });
  network.milestone();
  const block = network.milestoneBlock!.slice(2);
  for (let i = 0; i < 3; i++) network.milestone();
  const db = await openMemory();
  await followTo(await startLedger(db, network, 1), 4);
  await prune(db, 2);
  const first = await db.prepare('SELECT min(idx) AS first FROM milestone').first('first');
  expect([first, (await readBlock(db, block))?.referenced?.index]).toEqual([2, 2]);
  expect(await findMilestone(db, network.milestones[0]!.id.slice(2))).toBe(1);
});
