/** Milestones that strangers make up, which need no proof of work: a node pushes all of them. */
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { applyPushed } from '../../../src/follower/apply-next.ts';
import { noteLedger, takePushed } from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { waitForCalls } from '../../../src/ledger/core/wrap-database.ts';
import { ledgerIndex, startNew } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

it('cost few calls of D1, however many are pushed, and leave the one that is signed', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'made up');
  network.milestone({ parents: [root] });
  const { payload } = network.milestones[1]!;
  const { memory } = rig.following;
  noteLedger(memory, await readPosition(db, rig.following));
  let [calls, isOver] = [0, false];
  const makeUp = () => {
    const forged = Uint8Array.from(payload);
    new DataView(forged.buffer).setUint32(forged.length - 4, calls);
    takePushed(memory, 'milestone', forged);
  };
  makeUp();
  const counted = waitForCalls(db, (run) => {
    calls++;
    if (!isOver) makeUp();
    return run;
  });
  const applying = applyPushed({ ...rig.following, db: counted });
  await setTimeout(500);
  expect(calls).toBeLessThan(10);
  isOver = true;
  takePushed(memory, 'milestone', payload);
  for (const { bytes } of network.blocks.values()) takePushed(memory, 'block', bytes);
  expect(await applying).toBe(1);
  expect(await ledgerIndex(db)).toBe(2);
});
