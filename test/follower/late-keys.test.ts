/**
 * Keys that are set late: the block of a milestone was stored before they were known. The next
 * milestone references copies of it with bad signatures, too (src/ledger/view/cone-blocks.ts).
 */
import { expect, it } from 'vitest';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import {
  followTo,
  ledgerIndex,
  passOnce,
  startLedger,
  storeNow,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { extraSignature } from '../support/network/milestones.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

it.each([101, 250])('a milestone upon %d copies of the one before is applied', async (copies) => {
  const network = new SyntheticNetwork({ seed: 'late keys', keyCount: 4, threshold: 2 });
  const [early, late] = [network.signers.slice(0, 2), network.signers.slice(2)];
  const db = await openMemory();
  network.milestone();
  const rig = await startLedger(db, network, 0);
  network.milestone({ parents: [network.milestoneBlock!], signers: early });
  await followTo(rig, 2);
  rig.following.keys = { keys: network.keys.keys.slice(0, 2), threshold: 2 };
  const before = network.milestoneBlock!;
  const { payload } = network.milestone({ parents: [before], signers: late });
  const real = network.milestoneBlock!;
  // each is a parent of the next, so that one parent leads to all of them
  let top = before;
  for (let i = 0; i < copies; i++)
    top = network.attachMilestone(extraSignature(payload, new Uint8Array(32).fill(1 + i)), [top]);
  rig.node.confirm(2, 3);
  expect(await storeNow(withTips(rig, real), db)).toBe(1);
  network.milestone({ parents: [real, top], signers: late });
  network.milestone({ parents: [network.milestoneBlock!], signers: late });
  rig.node.confirm(5);
  rig.following.keys = network.keys;
  rig.following.memory = createFollowerMemory();
  await passOnce(rig).catch(() => {});
  expect(await ledgerIndex(db)).toBe(5);
});
