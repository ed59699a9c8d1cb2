/** The follower of a network that ended (src/follower/pass.ts). */
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { followOnce } from '../../src/follower/pass.ts';
import { readNodeStatus } from '../../src/ledger/read/node-status.ts';
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
  // nobody says any more what is newer
  const status = { follows: true, retention: 100, limitBytes: undefined };
  const ended = await readNodeStatus(db, { ...status, finalMilestone: 3 });
  expect(ended).toMatchObject({ follower: { state: 'off' }, upstream: undefined });
  expect(ended).not.toHaveProperty('blocks');

  // whatever damage is in the row that nobody writes any more
  await db.prepare("UPDATE follower SET state = 'fol\u0001owing'").run();
  expect(await readNodeStatus(db, { ...status, finalMilestone: 3 })).toEqual(ended);

  // the setting is taken back, and the network goes on
  expect(await pass(rig, undefined)).toMatchObject({ applied: 2 });
  expect(await ledgerIndex(db)).toBe(5);

  expect(await pass(rig, 4)).toMatchObject({ applied: 0, ended: true });
  expect(await db.prepare('SELECT state, reason FROM follower').first()).toEqual({
    state: 'stopped',
    reason: 'the ledger is at milestone 5, beyond FINAL_MILESTONE, 4',
  });

  // the setting is corrected: what the follower said before is over
  expect(await pass(rig, 5)).toMatchObject({ applied: 0, ended: true });
  expect((await readNodeStatus(db, { ...status, finalMilestone: 5 }))?.follower).toEqual({
    state: 'off',
  });
});
