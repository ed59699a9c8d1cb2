/**
 * A whole network as plain data: what its nodes decided, milestone by milestone. It is recorded
 * (recorded-network.ts) or made up (synthetic-network.ts). The double of a node serves it
 * (../hornet-double), and tests and benches compare their results with it.
 *
 * IDs that are keys or single values are `0x…` in lower case. Outputs hold bytes, as in a snapshot
 * file.
 */
import { createHash } from 'node:crypto';
import { compareBytes, fromHex, Writer } from '../../../src/stardust/encoding/bytes.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';
import type { LedgerOutput } from '../../../src/stardust/wire/ledger-output.ts';
import type {
  ProtocolParametersOption,
  ReceiptOption,
} from '../../../src/stardust/wire/milestone.ts';
import {
  decodeParameters,
  type ProtocolParameters,
} from '../../../src/stardust/wire/parameters.ts';
import type { Treasury } from '../../../src/stardust/wire/receipt.ts';

export interface NetworkBlock {
  id: string;
  bytes: Uint8Array;
  parents: readonly string[];
  /**
   * The milestone that references it, its place among the blocks of that milestone, and the
   * verdict; absent if none ever did.
   */
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

/** An output, and what became of it. */
export interface NetworkOutput extends LedgerOutput {
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

const byId = (a: NetworkOutput, b: NetworkOutput) => compareBytes(a.outputId, b.outputId);

/** Whether the output is unspent once milestone `index` is confirmed. */
export function isUnspentAt({ bookedIndex, spent }: NetworkOutput, index: number): boolean {
  return bookedIndex <= index && (spent === undefined || spent.index > index);
}

/** The outputs that are unspent once milestone `index` is confirmed, in the order of their IDs. */
export function ledgerAt(network: Network, index: number): NetworkOutput[] {
  return [...network.outputs.values()].filter((each) => isUnspentAt(each, index)).sort(byId);
}

/**
 * The outputs that a milestone creates and consumes, in the order of their IDs; one made and spent
 * within it is in both lists.
 */
export function changesOf(
  network: Network,
  index: number,
): { created: NetworkOutput[]; consumed: NetworkOutput[] } {
  const all = [...network.outputs.values()];
  return {
    created: all
      .filter(({ bookedIndex }) => bookedIndex === index && index !== network.genesis.index)
      .sort(byId),
    consumed: all.filter(({ spent }) => spent?.index === index).sort(byId),
  };
}

/**
 * The protocol parameters in force once milestone `index` is confirmed, and since when; those
 * announced by then for later.
 */
export function parametersAt(network: Network, index: number) {
  const { genesis, milestones } = network;
  const announced = milestones
    .filter((milestone) => milestone.index <= index)
    .flatMap((milestone) => milestone.announced ?? [])
    .sort((a, b) => a.targetMilestoneIndex - b.targetMilestoneIndex);
  const last = announced.findLast(({ targetMilestoneIndex }) => targetMilestoneIndex <= index);
  return {
    since: last?.targetMilestoneIndex ?? genesis.index,
    parameters: last === undefined ? genesis.parameters : decodeParameters(last.parameters),
    pending: announced.filter(({ targetMilestoneIndex }) => targetMilestoneIndex > index),
  };
}

/** The treasury once milestone `index` is confirmed. */
export function treasuryAt(network: Network, index: number): Treasury {
  const last = network.milestones.findLast(
    (milestone) => milestone.index <= index && milestone.receipt !== undefined,
  );
  return last?.receipt === undefined
    ? { milestoneId: new Uint8Array(32), amount: network.genesis.treasury }
    : { milestoneId: fromHex(last.id), amount: last.receipt.transaction.output.amount };
}

/**
 * The hash by which the reference compares ledgers (docs/snapshot-format.md#state-hash), hex
 * without 0x.
 */
export function stateHash(network: Network, index: number): string {
  const treasury = treasuryAt(network, index);
  const writer = new Writer().u32(index).put(treasury.milestoneId).u64(treasury.amount);
  for (const { outputId, blockId, bookedIndex, bookedTimestamp, bytes } of ledgerAt(
    network,
    index,
  )) {
    writer
      .put(outputId)
      .put(blockId)
      .u32(bookedIndex)
      .u32(bookedTimestamp)
      .u32(bytes.length)
      .put(bytes);
  }
  return createHash('sha256').update(writer.finish()).digest('hex');
}

/** The blocks that a milestone references, in white-flag order. */
export function coneOf(network: Network, index: number): NetworkBlock[] {
  return [...network.blocks.values()]
    .filter(({ referenced }) => referenced?.index === index)
    .sort((a, b) => a.referenced!.whiteFlagIndex - b.referenced!.whiteFlagIndex);
}

/**
 * What a coordinator asks the white-flag operation before it issues the milestone, and the roots
 * that it expects.
 */
export interface WhiteFlagCase {
  request: { index: number; timestamp: number; parents: string[]; previousMilestoneId: string };
  response: { inclusionMerkleRoot: string; appliedMerkleRoot: string };
}
