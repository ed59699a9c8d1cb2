/**
 * Outputs that a receipt brings, and blocks that name them before their milestone is taken in:
 * whoever knows the milestone knows the outputs' IDs.
 */

import { expect, it } from 'vitest';
import { readCone } from '../../../src/ledger/packs/record-cone.ts';
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { blockId, networkId } from '../../../src/stardust/wire/ids.ts';
import { migratedOutputs } from '../../../src/stardust/wire/receipt.ts';
import { ask, followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { awaitedOutputs, storedBlock } from '../../support/ledger/stored-blocks.ts';
import { blockAround } from '../../support/network/blocks.ts';
import {
  lastIndex,
  milestoneAt,
  type Network,
  type NetworkBlock,
  stateHash,
} from '../../support/network/network-model.ts';
import { oracleView } from '../../support/network/oracle-view.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { coin, makeTransaction } from '../../support/network/transactions.ts';
import { whiteFlag } from '../../support/oracle/oracle.ts';
import { keyPair } from '../../support/payloads/keys.ts';
import { basic } from '../../support/payloads/outputs.ts';

const db = await openMemory();
const recorded = recordedNetwork('network-a');
const {
  index,
  id: milestoneId,
  receipt,
} = recorded.milestones.find((milestone) => milestone.receipt !== undefined)!;

function milestoneBlock(of: number): string {
  return [...recorded.blocks.values()].find(({ milestoneIndex }) => milestoneIndex === of)!.id;
}

/** A block that tries to spend the first migrated output, by a key that does not own it. */
function thief(visibleFrom: number): NetworkBlock {
  const { id, output } = migratedOutputs(receipt!, Uint8Array.fromHex(milestoneId.slice(2)))[0]!;
  const by = keyPair('thief');
  const made = makeTransaction(
    [{ coin: coin(id, output), by }],
    [basic(by, { amount: output.amount })],
    {
      networkId: networkId(recorded.genesis.parameters.networkName),
    },
  );
  const parents = [milestoneBlock(visibleFrom)];
  const bytes = blockAround(parents, made.payload);
  return { id: toHex(blockId(bytes)), bytes, parents, visibleFrom };
}

it('come all the same, and the block that waited for one gets its verdict', async () => {
  const block = thief(index - 1);
  const network: Network = {
    ...recorded,
    blocks: new Map([...recorded.blocks, [block.id, block]]),
  };
  const rig = await startLedger(db, network, 0, { snapshotOf: recorded });
  await followTo(rig, index - 1);
  const verdict = async () =>
    readCone([(await storedBlock(db, block.id))!.record])
      .transactionAt(0)
      .reasonAt(1);
  const migrated = migratedOutputs(receipt!, Uint8Array.fromHex(milestoneId.slice(2)))[0]!;
  expect(await verdict()).toBeUndefined();
  expect(await awaitedOutputs(db)).toContain(migrated.id.toHex());

  await followTo(rig, index);
  expect(await verdict()).toBe(ConflictReason.InvalidSignature);
  expect(await awaitedOutputs(db)).not.toContain(migrated.id.toHex());

  await followTo(rig, index + 1);
  const next = milestoneAt(network, index + 1)!;
  const question = {
    index: index + 2,
    timestamp: next.timestamp + 5,
    parents: [milestoneBlock(index + 1), block.id],
    previousMilestoneId: next.id,
  };
  const { order, inclusionMerkleRoot, appliedMerkleRoot } = await whiteFlag(
    oracleView(network, index + 1),
    question,
  );
  expect(order.find(({ id }) => id === block.id)!.reason).toBe(ConflictReason.InvalidSignature);
  expect(await ask(rig, question)).toEqual({ inclusionMerkleRoot, appliedMerkleRoot });

  await followTo(rig, lastIndex(network));
  expect((await ledgerStateHash(db)).toHex()).toBe(stateHash(recorded, lastIndex(recorded)));
});
