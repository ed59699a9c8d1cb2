/**
 * Past cones for which one pass is not enough (src/follower/pass.ts): what was fetched is kept,
 * whatever ends the pass.
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import { UpstreamFailure } from '../../src/upstream/upstream.ts';
import { ledgerIndex, passOnce, type Rig, startLedger } from '../support/ledger/ledger-harness.ts';
import { diverging, listening } from '../support/network/direct-upstream.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const db = env.LEDGER;

/** IDs of the blocks that are fetched and not stored yet. */
function keptBlocks({ network, following }: Rig): string[] {
  const { pool } = following.memory;
  return [...network.blocks.keys()].filter((id) => pool.get(id.slice(2)) !== undefined);
}

/** A ledger at milestone 1, before one with a past cone of 406 blocks none of which is here. */
async function startBeforeLarge(): Promise<{
  rig: Rig;
  network: SyntheticNetwork;
  asked: string[];
}> {
  const network = new SyntheticNetwork({ seed: 'large cone' });
  network.milestone();
  const rig = await startLedger(db, network, 0);
  rig.node.confirm(1);
  await passOnce(rig, { milestonesOnly: true });
  for (let i = 0; i < 600; i++) network.note();
  network.milestone();
  rig.node.confirm(2);
  const { upstream, read: asked } = listening(rig.upstream);
  rig.upstream = { ...upstream, readTips: async () => [] };
  rig.following.upstreams = [rig.upstream];
  return { rig, network, asked };
}

it('is fetched over several passes, none of which fetches more than it may', async () => {
  const { rig, asked } = await startBeforeLarge();
  const fetched: number[] = [];
  for (let i = 0; i < 3; i++) {
    const before = asked.length;
    const result = await passOnce(rig, { fetches: 150 });
    expect(result).toEqual(i < 2 ? { applied: 0, behind: true } : { applied: 1, behind: false });
    fetched.push(asked.length - before);
  }
  expect(fetched).toEqual([150, 150, 106]);
  expect(await ledgerIndex(db)).toBe(2);
  expect(new Set(asked).size).toBe(asked.length);
  expect(keptBlocks(rig)).toEqual([]);
});

it('is applied with the help of an upstream that fails again and again', async () => {
  const { rig, asked } = await startBeforeLarge();
  let left = 0;
  const flaky = {
    ...rig.upstream,
    async readBlock(id: string) {
      if (left-- <= 0) throw new UpstreamFailure('too many subrequests');
      return rig.upstream.readBlock(id);
    },
  };
  rig.following.upstreams = [flaky];
  for (let i = 0; i < 4; i++) {
    left = 200;
    await passOnce(rig);
  }
  expect(await ledgerIndex(db)).toBe(2);
  expect(new Set(asked).size).toBe(asked.length);
});

it('asks for no more once one question has failed', async () => {
  const { rig } = await startBeforeLarge();
  let asked = 0;
  const failing = {
    ...rig.upstream,
    readBlock: (id: string) => Promise.reject(new UpstreamFailure(`${++asked} ${id}`)),
  };
  rig.following.upstreams = [failing];
  await passOnce(rig);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(asked).toBeLessThanOrEqual(6);
});

it('is fetched again as far as it takes too much heap, and applied', async () => {
  const { rig, asked } = await startBeforeLarge();
  // room for less than 150 blocks
  rig.following.memory = createFollowerMemory(200_000);
  expect(await passOnce(rig, { fetches: 300 })).toEqual({ applied: 0, behind: true });
  expect(keptBlocks(rig).length).toBeGreaterThan(0);
  expect(keptBlocks(rig).length).toBeLessThan(150);
  expect(await passOnce(rig)).toEqual({ applied: 1, behind: false });
  expect(new Set(asked).size).toBe(406);
  expect(asked.length).toBeGreaterThan(500);
});

it('is forgotten when its roots are wrong', async () => {
  const { rig, network } = await startBeforeLarge();
  rig.following.upstreams = [diverging(rig.upstream, network.signers)];
  await passOnce(rig);
  expect(await ledgerIndex(db)).toBe(1);
  expect(keptBlocks(rig)).toEqual([]);
  expect(rig.following.memory.missing).toEqual([]);
  rig.following.upstreams = [rig.upstream];
  await passOnce(rig);
  expect(await ledgerIndex(db)).toBe(2);
});

it('does not prevent pruning, nor does anything else that a pass fails at', async () => {
  const network = new SyntheticNetwork({ seed: 'pruned' });
  for (let i = 0; i < 6; i++) network.milestone();
  const rig = await startLedger(db, network, 0, { retention: 2 });
  rig.node.confirm(6);
  await passOnce(rig, { milestonesOnly: true });
  const kept = () => db.prepare('SELECT min(idx) FROM milestone').first('min(idx)');
  expect(await kept()).toBe(0);
  const readHeads = () => Promise.reject(new Error('fails in a way that nobody thought of'));
  rig.following.upstreams = [{ ...rig.upstream, readHeads }];
  await expect(passOnce(rig)).rejects.toThrow('nobody thought of');
  expect(await kept()).toBe(4);
});
