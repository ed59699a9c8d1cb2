/** Which upstream a pass asks first: none is put behind another for what it has not done. */
import { expect, it } from 'vitest';
import { applyPushed } from '../../src/follower/apply-next.ts';
import { noteLedger, takePushed } from '../../src/follower/follower-context.ts';
import { readPosition } from '../../src/follower/ledger-position.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';
import { ledgerIndex, passOnce, startLedger } from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

async function startTwo() {
  const network = new SyntheticNetwork({ seed: 'ranking' });
  for (let i = 0; i < 3; i++) {
    network.note();
    network.milestone();
  }
  const rig = await startLedger(await openMemory(), network, 0);
  const asked: string[] = [];
  const called = (name: string): Upstream => ({
    ...rig.upstream,
    name,
    readHeads: () => {
      asked.push(name);
      return rig.upstream.readHeads();
    },
  });
  const upstreams = [called('first'), called('second')] as const;
  rig.following.upstreams = upstreams;
  const { memory } = rig.following;
  // heads of those that a pass does not need are not read
  memory.upstreams.countedAt = Date.now();
  rig.node.confirm(1);
  await passOnce(rig);
  noteLedger(memory, await readPosition(rig.db, rig.following));
  memory.upstreams.lookedAroundAt = Date.now();
  asked.length = 0;
  rig.node.confirm(2);
  return { rig, network, memory, asked, upstreams };
}

it('one whose milestone came by itself meanwhile stays the first', async () => {
  const { rig, network, memory, upstreams } = await startTwo();
  const [first, second] = upstreams;
  const readMilestone = async (index: number) => {
    const payload = await first.readMilestone(index);
    for (const { bytes } of network.blocks.values()) takePushed(memory, 'block', bytes);
    takePushed(memory, 'milestone', payload!);
    expect(await applyPushed(rig.following)).toBe(1);
    return payload;
  };
  rig.following.upstreams = [{ ...first, readMilestone }, second];
  await passOnce(rig);
  expect(await ledgerIndex(rig.db)).toBe(2);
  expect(memory.upstreams.ranking.order(2)).toEqual([0, 1]);
});

it('one whose walk met too many blocks is asked last, until the ledger moves', async () => {
  const { rig, memory, asked } = await startTwo();
  const { generation, ledger } = memory.lastLedger!;
  memory.upstreams.astray(generation, ledger).add('first');
  await passOnce(rig);
  expect(asked[0]).toBe('second');
  asked.length = 0;
  rig.node.confirm(3);
  memory.upstreams.ranking.beginWith(0);
  await passOnce(rig);
  expect(asked[0]).toBe('first');
  expect(await ledgerIndex(rig.db)).toBe(3);
});

it('of the others each comes first in turn, where none gets on', async () => {
  const { rig, memory, upstreams } = await startTwo();
  const { generation, ledger } = memory.lastLedger!;
  const fail = () => Promise.reject(new UpstreamFailure('503'));
  rig.following.upstreams = ['first', 'second', 'third'].map((name) => ({
    ...upstreams[0],
    name,
    readHeads: fail,
  }));
  memory.upstreams.astray(generation, ledger).add('second');
  const firsts: number[] = [];
  for (let i = 0; i < 4; i++) {
    firsts.push(memory.upstreams.ranking.order(3)[0]!);
    await passOnce(rig);
  }
  expect(firsts).toEqual([0, 2, 0, 2]);
});
