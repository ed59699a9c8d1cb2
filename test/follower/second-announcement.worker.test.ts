/**
 * Protocol parameters announced for a milestone that has some already: HORNET stops there
 * (docs/protocol.md, G), and so does the follower, with a reason.
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { followOnce } from '../../src/follower/pass.ts';
import { encode } from '../../src/stardust/encoding/codec.ts';
import type { ProtocolParametersOption } from '../../src/stardust/wire/milestone.ts';
import { protocolParameters } from '../../src/stardust/wire/parameters.ts';
import { followTo, ledgerIndex, startLedger } from '../support/ledger/ledger-harness.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const db = env.LEDGER;

function optionFor(network: SyntheticNetwork, target: number, vByteCost: number) {
  const { parameters } = network.genesis;
  const rentStructure = { ...parameters.rentStructure, vByteCost };
  const option: ProtocolParametersOption = {
    type: 1,
    targetMilestoneIndex: target,
    protocolVersion: parameters.version,
    parameters: encode(protocolParameters, { ...parameters, rentStructure }),
  };
  return option;
}

it.each([
  ['a milestone to come, with other parameters', 5, 2],
  ['a milestone to come, with the same parameters', 5, 1],
  ['the genesis, which the snapshot brought parameters for', 0, 1],
])('a second announcement for %s', async (_, target, vByteCost) => {
  const network = new SyntheticNetwork({ seed: 'twice' });
  network.milestone();
  network.milestone({ announce: optionFor(network, 5, 1) });
  network.milestone({ announce: optionFor(network, target, vByteCost) });
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 2);
  rig.node.confirm(3);
  const budget = { deadline: Date.now() + 20_000, milestones: 12 };
  expect(await followOnce(rig.following, budget)).toEqual({ applied: 0, behind: false });
  expect(await ledgerIndex(db)).toBe(2);
  expect(await db.prepare('SELECT state, reason FROM follower').first()).toEqual({
    state: 'diverged',
    reason: `milestone 3 announces protocol parameters for milestone ${target}, which has some`,
  });
});

it('announcements for different milestones are all kept, in whatever order they come', async () => {
  const network = new SyntheticNetwork({ seed: 'in turn' });
  for (const target of [9, 5, 7]) network.milestone({ announce: optionFor(network, target, 1) });
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 3);
  const { results } = await db.prepare('SELECT target FROM parameters ORDER BY target').all();
  expect(results.map(({ target }) => target)).toEqual([0, 5, 7, 9]);
});

it('an announcement for a milestone to come that has no parameters stops nothing yet', async () => {
  const network = new SyntheticNetwork({ seed: 'unreadable' });
  const unreadable = { ...optionFor(network, 50, 1), parameters: new Uint8Array() };
  network.milestone({ announce: unreadable });
  network.milestone();
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 2);
  const state = await db.prepare('SELECT state FROM follower').first('state');
  expect(state).toBe('following');
});

it('stops by an unknown version, due at once, in whatever form its parameters are', async () => {
  const network = new SyntheticNetwork({ seed: 'version 3' });
  network.milestone();
  const unknown = {
    ...optionFor(network, 2, 1),
    protocolVersion: 3,
    parameters: new Uint8Array(3),
  };
  network.milestone({ announce: unknown });
  network.quietMilestone();
  const rig = await startLedger(db, network, 0);
  rig.node.confirm(3);
  for (let pass = 0; pass < 4; pass++)
    await followOnce(rig.following, { deadline: Date.now() + 20_000, milestones: 12 });
  expect(await db.prepare('SELECT state, reason FROM follower').first()).toEqual({
    state: 'stopped',
    reason: 'protocol version 3 is not known here',
  });
});
