/**
 * A whole network as plain data: what its nodes decided, milestone by milestone. Recorded (recorded.ts) or made up (synthetic.ts), it is what
 * the double of a node serves (../upstream) and what tests and benches compare their own results with.
 *
 * IDs are `0x…` in lower case where they are keys or stand alone; outputs hold bytes, as a snapshot file does.
 */
import { createHash } from 'node:crypto';
import { compareBytes, toHex, Writer } from '../../src/stardust/bytes.ts';
import type { ProtocolParametersOption, ReceiptOption } from '../../src/stardust/milestone.ts';
import type { MilestoneKeys } from '../../src/stardust/milestone-keys.ts';
import type { ProtocolParameters } from '../../src/stardust/parameters.ts';

export interface NetworkBlock {
  id: string;
  bytes: Uint8Array;
  parents: readonly string[];
  /** The milestone that references it, its place among the blocks of that milestone, and the verdict; absent if none ever did. */
  referenced?: { index: number; whiteFlagIndex: number; state: InclusionState; conflict: number };
  /** Set on a properly signed block of a milestone. */
  milestoneIndex?: number;
  /** The node has the block as soon as this milestone is confirmed. */
  visibleFrom: number;
}

export type InclusionState = 'noTransaction' | 'included' | 'conflicting';

export interface NetworkMilestone {
  index: number;
  timestamp: number;
  id: string;
  /** The payload's bytes, its type included. */
  payload: Uint8Array;
  receipt?: ReceiptOption;
  announced?: ProtocolParametersOption;
}

/** An output as snapshot files hold it, and what became of it. */
export interface NetworkOutput {
  /** 34 bytes. */
  outputId: Uint8Array;
  blockId: Uint8Array;
  bookedIndex: number;
  bookedTimestamp: number;
  /** The output itself. */
  bytes: Uint8Array;
  spent?: { index: number; timestamp: number; transactionId: Uint8Array };
}

export interface Genesis {
  index: number;
  timestamp: number;
  /** Base tokens. */
  treasury: bigint;
  parameters: ProtocolParameters;
}

export interface Network {
  name: string;
  genesis: Genesis;
  keys: MilestoneKeys;
  /** Ascending, from the genesis index + 1, without a gap. */
  milestones: readonly NetworkMilestone[];
  /** In the order in which they came. */
  blocks: ReadonlyMap<string, NetworkBlock>;
  /** All that ever were, those of the genesis first; the key is `0x…` of the output ID. */
  outputs: ReadonlyMap<string, NetworkOutput>;
}

export const ZERO_ID: string = `0x${'00'.repeat(32)}`;

/** The milestone with this index, or undefined: also for the genesis, which has none. */
export function milestoneAt(network: Network, index: number): NetworkMilestone | undefined {
  return network.milestones[index - network.genesis.index - 1];
}

/** Index of the last milestone, or of the genesis. */
export function lastIndex(network: Network): number {
  return network.genesis.index + network.milestones.length;
}

/** The outputs that are unspent once milestone `index` is confirmed, in the order of their IDs. */
export function ledgerAt(network: Network, index: number): NetworkOutput[] {
  return [...network.outputs.values()]
    .filter(({ bookedIndex, spent }) => bookedIndex <= index && (spent === undefined || spent.index > index))
    .sort((a, b) => compareBytes(a.outputId, b.outputId));
}

/** The treasury once milestone `index` is confirmed. */
export function treasuryAt(network: Network, index: number): { milestoneId: string; amount: bigint } {
  const last = network.milestones.findLast((milestone) => milestone.index <= index && milestone.receipt !== undefined);
  return last?.receipt === undefined
    ? { milestoneId: ZERO_ID, amount: network.genesis.treasury }
    : { milestoneId: last.id, amount: last.receipt.transaction.output.amount };
}

/** The hash by which the reference compares ledgers (data/README.md, "State hash"), without 0x. */
export function stateHash(network: Network, index: number): string {
  const treasury = treasuryAt(network, index);
  const writer = new Writer()
    .u32(index)
    .put(Uint8Array.fromHex(treasury.milestoneId.slice(2)))
    .u64(treasury.amount);
  for (const { outputId, blockId, bookedIndex, bookedTimestamp, bytes } of ledgerAt(network, index)) {
    writer.put(outputId).put(blockId).u32(bookedIndex).u32(bookedTimestamp).u32(bytes.length).put(bytes);
  }
  return createHash('sha256').update(writer.finish()).digest('hex');
}

/** The IDs of the outputs that a milestone creates and consumes, each list in order; one made and spent within it stands in both. */
export function changesOf(network: Network, index: number): { created: string[]; consumed: string[] } {
  const ids = (outputs: NetworkOutput[]) => outputs.map(({ outputId }) => toHex(outputId)).sort();
  const all = [...network.outputs.values()];
  return {
    created: ids(all.filter(({ bookedIndex }) => bookedIndex === index)),
    consumed: ids(all.filter(({ spent }) => spent?.index === index)),
  };
}

/** The blocks that a milestone references, in white-flag order. */
export function coneOf(network: Network, index: number): NetworkBlock[] {
  return [...network.blocks.values()]
    .filter(({ referenced }) => referenced?.index === index)
    .sort((a, b) => a.referenced!.whiteFlagIndex - b.referenced!.whiteFlagIndex);
}

/** What a coordinator asks the white-flag operation before it issues the milestone, and the roots that it expects. */
export interface WhiteFlagCase {
  request: { index: number; timestamp: number; parents: string[]; previousMilestoneId: string };
  response: { inclusionMerkleRoot: string; appliedMerkleRoot: string };
}
