/**
 * Milestones that the coordinator signed, with the right roots, and that break another rule: the
 * follower applies none of them (E.5).
 */
import { expect, it } from 'vitest';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import {
  type MigratedFunds,
  type Milestone,
  receiptOf,
} from '../../src/stardust/wire/milestone.ts';
import { ledgerIndex, passOnce, startLedger } from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { networkMilestone, readMilestone } from '../support/network/blocks.ts';
import { forgedSignature, resign } from '../support/network/milestones.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const db = await openMemory();

/** Follows a network whose milestone 2 is signed anew with these changes. */
async function follow(network: SyntheticNetwork, changes: Partial<Milestone>) {
  const { payload } = network.milestones.at(-1)!;
  const changed = networkMilestone(resign(payload, changes, network.signers));
  network.milestones.splice(-1, 1, changed);
  const rig = await startLedger(db, network, 1);
  rig.node.confirm(2);
  await passOnce(rig);
  const { state, reason } = (await db.prepare('SELECT state, reason FROM follower').first())!;
  return { ledger: await ledgerIndex(db), state, reason };
}

function newNetwork(): SyntheticNetwork {
  const network = new SyntheticNetwork({ seed: 'rules of milestones', treasury: 9_000_000n });
  network.milestone();
  return network;
}

const FUNDS: MigratedFunds = {
  tailTransactionHash: new Uint8Array(49),
  address: new SyntheticNetwork({ seed: 'owner' }).account(1).address,
  deposit: 2_000_000n,
};

it.each<[string, Partial<MigratedFunds>, string]>([
  ['leaves more in the treasury than is due', { deposit: 2_000_001n }, 'left in the treasury'],
  ['migrates less than is allowed', { deposit: 999_999n }, 'a deposit of 999999'],
  ['is right', {}, ''],
])('one whose receipt %s', async (_, funds, why) => {
  const network = newNetwork();
  const made = readMilestone(network.milestone({ migrate: [FUNDS] }).payload);
  const options = [{ ...receiptOf(made)!, funds: [{ ...FUNDS, ...funds }] }];
  const { ledger, state, reason } = await follow(network, { options });
  expect({ ledger, state }).toEqual(
    why === '' ? { ledger: 2, state: 'following' } : { ledger: 1, state: 'diverged' },
  );
  expect(reason ?? '').toContain(why);
});

it.each([
  [0, 'diverged'],
  [1, 'following'],
])('one that comes %i seconds after the one before', async (seconds, state) => {
  const network = newNetwork();
  const { timestamp } = readMilestone(network.milestones[0]!.payload);
  const at = timestamp + seconds;
  network.milestone({ timestamp: at });
  const { state: said, reason } = await follow(network, { timestamp: at });
  expect(said).toBe(state);
  if (seconds === 0) expect(reason).toContain('is not after the one before');
});

it('one that references only a forged copy of the one before', async () => {
  const network = newNetwork();
  const real = network.milestoneBlock!;
  const forged = network.attachMilestone(forgedSignature(network.milestones[0]!.payload));
  const { response } = network.propose({ parents: [forged] });
  network.milestone({ parents: [real] });
  const changes = {
    parents: [fromHex(forged)],
    inclusionMerkleRoot: fromHex(response.inclusionMerkleRoot),
    appliedMerkleRoot: fromHex(response.appliedMerkleRoot),
  };
  const { ledger, state, reason } = await follow(network, changes);
  expect({ ledger, state }).toEqual({ ledger: 1, state: 'diverged' });
  expect(reason).toContain('has no block of the one before');
});
