/**
 * An EdgeNode that holds a recorded network at one of its milestones, for the routes that only
 * read.
 */
import type { ExplainedBlock } from '../../../src/ledger/read/applied-milestone.ts';
import type { EdgeNode, MilestoneStatus, NodeStatus } from '../../../src/node/edge-node.ts';
import { fromHex, toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import type { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import { readMilestone } from '../network/blocks.ts';
import {
  coneOf,
  milestoneAt,
  type Network,
  type NetworkBlock,
  parametersAt,
} from '../network/network-model.ts';

const PAYLOADS = { 5: 'taggedData', 6: 'transaction', 7: 'milestone' } as const;

function explainBlock({ id, bytes, referenced }: NetworkBlock): ExplainedBlock {
  const result = parseBlock(bytes);
  if (!result.ok) throw new Error(result.reason);
  const { payload } = result.parsed.block;
  const reason =
    referenced!.state === 'noTransaction' ? undefined : (referenced!.conflict as ConflictReason);
  return {
    blockId: id.slice(2),
    payload: payload === undefined ? 'none' : PAYLOADS[payload.type],
    reason,
  };
}

function milestoneStatus(network: Network, index: number): MilestoneStatus {
  const milestone = milestoneAt(network, index);
  if (milestone === undefined) throw new RangeError(`no milestone ${index}`);
  return { index, timestamp: milestone.timestamp, milestoneId: milestone.id.slice(2) };
}

/** `now`, in Unix seconds, becomes the time of the ledger's milestone: it was recorded long ago. */
export function recordedStatus(network: Network, ledgerIndex: number, now?: number): NodeStatus {
  const { parameters, pending } = parametersAt(network, ledgerIndex);
  const ledger = milestoneStatus(network, ledgerIndex);
  return {
    ledger: { ...ledger, timestamp: now ?? ledger.timestamp },
    fingerprint: '00f1a2b3c4d5e',
    genesisIndex: network.genesis.index,
    nextBlock: 1,
    nextOutput: 1,
    retention: { kept: 0, configured: 17_280 },
    database: { bytes: 1_000_000, limitBytes: undefined },
    pruningIndex: network.genesis.index,
    parameters,
    pendingParameters: pending,
    upstream: undefined,
    follower: { state: 'following' },
    finalMilestone: undefined,
    referencedBlocksPerSecond: 1,
  };
}

export function recordedNode(network: Network, ledgerIndex: number): Partial<EdgeNode> {
  return {
    readStatus: async () => recordedStatus(network, ledgerIndex),
    async readOutput(id) {
      const output = network.outputs.get(`0x${id}`);
      if (output === undefined || output.bookedIndex > ledgerIndex) return undefined;
      const { spent } = output;
      const isSpent = spent !== undefined && spent.index <= ledgerIndex;
      return {
        outputId: id,
        bytes: output.bytes,
        blockId: toHexDigits(output.blockId),
        bookedIndex: output.bookedIndex,
        bookedTimestamp: output.bookedTimestamp,
        spent: isSpent ? { ...spent, transactionId: toHexDigits(spent.transactionId) } : undefined,
        ledgerIndex,
      };
    },
    async readBlock(id) {
      const block = network.blocks.get(`0x${id}`);
      return (
        block && {
          blockId: id,
          bytes: block.bytes,
          isSolid: true,
          referenced: undefined,
          ledgerIndex,
        }
      );
    },
    async readMilestone(name) {
      const milestone = 'index' in name ? milestoneAt(network, name.index) : undefined;
      return milestone && { index: milestone.index, payload: milestone.payload, ledgerIndex };
    },
    async explainMilestone(index) {
      const milestone = milestoneAt(network, index);
      if (milestone === undefined || index > ledgerIndex) return undefined;
      const { inclusionMerkleRoot, appliedMerkleRoot } = readMilestone(milestone.payload);
      return {
        ...milestoneStatus(network, index),
        inclusionMerkleRoot: toHexDigits(inclusionMerkleRoot),
        appliedMerkleRoot: toHexDigits(appliedMerkleRoot),
        blocks: coneOf(network, index).map(explainBlock),
      };
    },
    async proveBlock(id) {
      const block = network.blocks.get(`0x${id}`);
      const index = block?.referenced?.index;
      if (block === undefined || index === undefined || index > ledgerIndex) return undefined;
      const cone = coneOf(network, index);
      return {
        milestone: milestoneAt(network, index)!.payload,
        block: block.bytes,
        included: cone.map((each) => fromHex(each.id)),
        position: cone.indexOf(block),
        applied: cone.flatMap(({ referenced }, i) => (referenced!.state === 'included' ? [i] : [])),
      };
    },
  };
}
