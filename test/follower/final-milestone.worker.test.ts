/** The follower of a network that ended (src/follower/pass.ts). */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import type { Follower } from '../../src/follower/follower.ts';
import { followerOf } from '../../src/follower/follower-stub.ts';
import { followOnce } from '../../src/follower/pass.ts';
import { readFinalLedger } from '../../src/ledger/final/prove-final.ts';
import type { Upstream } from '../../src/upstream/upstream.ts';
import { ledgerIndex, type Rig, startLedger } from '../support/ledger/ledger-harness.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const db = env.LEDGER;

function pass(rig: Rig, finalMilestone: number | undefined) {
  const context = { ...rig.following, finalMilestone };
  return followOnce(context, { deadline: Date.now() + 10_000, milestones: 12 });
}

it('goes up to the final milestone, and rests there without asking anybody', async () => {
  const network = new SyntheticNetwork({ seed: 'final' });
  for (let index = 1; index <= 5; index++) network.milestone();
  const rig = await startLedger(db, network, 0);
  rig.node.confirm(2);
  expect(await pass(rig, 3)).toMatchObject({ applied: 2 });
  rig.node.confirm(5);
  expect(await pass(rig, 3)).toMatchObject({ applied: 1 });
  expect(await ledgerIndex(db)).toBe(3);

  const silent = new Proxy(rig.upstream, {
    get: (_, name) => () => Promise.reject(new Error(`asked for ${String(name)}`)),
  }) as Upstream;
  const published = vi.fn(async () => {});
  const resting = {
    ...rig,
    following: { ...rig.following, upstreams: [silent], publish: published },
  };
  expect(await pass(resting, 3)).toEqual({ applied: 0, behind: false, ended: true });
  expect(published).toHaveBeenCalledWith(false);

  // the setting is taken back, and the network goes on
  expect(await pass(rig, undefined)).toMatchObject({ applied: 2 });
  expect(await ledgerIndex(db)).toBe(5);

  expect(await pass(rig, 4)).toMatchObject({ applied: 0, ended: true });
  expect(await db.prepare('SELECT state, reason FROM follower').first()).toEqual({
    state: 'stopped',
    reason: 'the ledger is at milestone 5, beyond FINAL_MILESTONE, 4',
  });
});

it('builds the trees over the ledger where nothing is followed', async () => {
  const network = new SyntheticNetwork({ seed: 'archive' });
  for (let index = 1; index <= 3; index++) network.milestone();
  await startLedger(db, network, 3);
  const stub = followerOf(env.FOLLOWER) as unknown as DurableObjectStub<Follower>;
  const passAt = (finalMilestone: string) =>
    runInDurableObject(stub, async (object) => {
      const own = Object.getOwnPropertyDescriptor(object, 'env')!;
      const settings = { ...env, UPSTREAM_URL: '', FINAL_MILESTONE: finalMilestone };
      Object.defineProperty(object, 'env', { ...own, value: settings });
      const result = await object.pass();
      Object.defineProperty(object, 'env', own);
      return result;
    });
  expect(await passAt('')).toMatchObject({ isBuilding: false });
  expect(await readFinalLedger(db, 3)).toMatchObject({ ok: false, isBuilding: true });
  expect(await passAt('3')).toMatchObject({ isBuilding: false });
  expect(await readFinalLedger(db, 3)).toMatchObject({ ok: true });
});
