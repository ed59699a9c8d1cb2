/** Two jobs at one past cone (src/follower/store/store-cone.ts): the failure of one is not the other's. */
import { expect, it, vi } from 'vitest';
import { applyPushed } from '../../../src/follower/apply-next.ts';
import { noteLedger, takePushed } from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { waitForCalls } from '../../../src/ledger/core/wrap-database.ts';
import { UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { ledgerIndex, passOnce, startNew } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

const db = await openMemory();

/** The ledger is at the first milestone, and the second has a block that is nowhere here. */
async function startBefore(seed: string) {
  const { network, rig, root } = await startNew(db, seed);
  network.milestone({ parents: [root, network.note([root])] });
  rig.node.confirm(2);
  noteLedger(rig.following.memory, await readPosition(db, rig.following));
  const upstream = { ...rig.upstream, readTips: async () => [] };
  rig.following.upstreams = [upstream];
  return { network, rig, upstream, memory: rig.following.memory };
}

it('a pass fetches what a milestone that was pushed lacks, though it is walked at that moment', async () => {
  const { network, rig, memory } = await startBefore('walked');
  const slow = waitForCalls(db, async (run) => {
    const result = await run;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return result;
  });
  takePushed(memory, 'milestone', network.milestones[1]!.payload);
  const pushed = applyPushed({ ...rig.following, db: slow });
  await vi.waitFor(() => expect(memory.missing[0]?.running).toBeDefined());
  expect(await passOnce(rig)).toMatchObject({ applied: 1 });
  expect(await pushed).toBe(0);
  expect(memory.failed).toBeUndefined();
});

it('a catch-up goes on where the upstream of a pass fails that is at work', async () => {
  const { rig, upstream } = await startBefore('failing');
  const { promise: failing, reject } = Promise.withResolvers<undefined>();
  const readBlock = vi.fn(() => failing);
  const pass = passOnce({
    following: { ...rig.following, upstreams: [{ ...upstream, readBlock }] },
  });
  await vi.waitFor(() => expect(readBlock).toHaveBeenCalled());
  const catchUp = passOnce(rig, { milestonesOnly: true });
  await vi.waitFor(() => expect(rig.following.memory.counts.upstreams.size).toBe(1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  reject(new UpstreamFailure('no answer'));
  expect(await catchUp).toMatchObject({ applied: 1 });
  expect(await pass).toMatchObject({ applied: 0 });
  expect(await ledgerIndex(db)).toBe(2);
});
