/**
 * What the routes ask the ledger, and nothing else of it (design §2). src/node/open-node.ts answers from D1 and KV, tests from made-up data.
 *
 * IDs are lower-case hex digits without 0x.
 */
import type { NftAnswer } from '../nft-index/look-up-nft.ts';
import type { ProtocolParametersOption } from '../stardust/milestone.ts';
import type { ProtocolParameters } from '../stardust/parameters.ts';
import type { ConflictReason } from '../stardust/semantics/conflict-reason.ts';

/** A request that passed steps 1 and 2 of the contract (design §1). */
export interface WhiteFlagRequest {
  index: number;
  /** Unix seconds. */
  timestamp: number;
  /** 1 to 8 distinct block IDs, in the order of the request. */
  parents: string[];
  /** Zeros where the request has none. */
  previousMilestoneId: string;
}

export type WhiteFlagResult =
  | {
      ok: true;
      /** 32 bytes each. */
      inclusionMerkleRoot: Uint8Array;
      appliedMerkleRoot: Uint8Array;
      /** Blocks of the cone. */
      blocks: number;
      /** Milliseconds of each stage, by its name (a token of Server-Timing). */
      stages: Record<string, number>;
    }
  | {
      ok: false;
      status: 400 | 404 | 500;
      /** For people: ASCII, nothing internal. */
      detail: string;
      /** Where the ledger stands, if it does not know the state that the request is about. */
      ledgerIndex?: number;
      /** Milestones that the ledger lacks to the one before the request's, where that is the reason. */
      ahead?: number;
    };

/** A milestone as far as info tells of it. */
export interface MilestoneStatus {
  index: number;
  /** Unix seconds. */
  timestamp: number;
  milestoneId: string;
}

/** `stopped`: it cannot go on. `diverged`: what upstream says contradicts itself or us. The reason is for people: ASCII, nothing internal. */
export type FollowerStatus =
  | { state: 'off' | 'following' }
  | { state: 'stopped' | 'diverged'; reason: string };

export interface NodeStatus {
  /** The milestone at which the ledger stands. */
  ledger: MilestoneStatus;
  genesisIndex: number;
  /** The last milestone whose data is gone. */
  pruningIndex: number;
  /** In force at the ledger's milestone. */
  parameters: ProtocolParameters;
  /** Announced and not in force yet, in order of their targets. */
  pendingParameters: readonly ProtocolParametersOption[];
  /** The newest milestone that an upstream has named. */
  upstream: MilestoneStatus | undefined;
  follower: FollowerStatus;
  /** Blocks that the ledger's milestone references, a second since the one before it; 0 where that is not known. */
  referencedBlocksPerSecond: number;
}

export interface LedgerOutput {
  outputId: string;
  /** The output as it stands in its transaction. */
  bytes: Uint8Array;
  /** All zero for migrated outputs. */
  blockId: string;
  bookedIndex: number;
  /** Unix seconds. */
  bookedTimestamp: number;
  /** Undefined while unspent. */
  spent: { index: number; timestamp: number; transactionId: string } | undefined;
  /** The ledger index at which all this is true. */
  ledgerIndex: number;
}

/** One block of an applied milestone, as the white flag judged it. */
export interface ExplainedBlock {
  blockId: string;
  payload: 'none' | 'transaction' | 'milestone' | 'taggedData';
  /** Of a transaction: 0 where it was applied. Undefined for the other blocks. */
  reason: ConflictReason | undefined;
}

export interface ExplainedMilestone extends MilestoneStatus {
  /** 64 digits each. */
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
  /** In white-flag order. */
  blocks: readonly ExplainedBlock[];
}

/** What a proof of inclusion is made of. */
export interface BlockProof {
  /** The milestone payload's bytes. */
  milestone: Uint8Array;
  /** The block's bytes. */
  block: Uint8Array;
  /** IDs of the blocks that the milestone references, in white-flag order. */
  included: readonly Uint8Array[];
  /** Where the block stands in `included`. */
  position: number;
  /** IDs of those whose transactions were applied, same order. */
  applied: readonly Uint8Array[];
  /** Where the block stands in `applied`, if it does. */
  appliedPosition: number | undefined;
}

export interface EdgeNode {
  /** Steps 3 to 6 of the contract. */
  computeWhiteFlag(request: WhiteFlagRequest): Promise<WhiteFlagResult>;
  /** Tells of the ledger as it is where it has not come to `minLedgerIndex`; undefined where nothing was imported. */
  lookUpNft(nftId: string, minLedgerIndex: number): Promise<NftAnswer | undefined>;
  /** Undefined where nothing was imported. */
  readStatus(): Promise<NodeStatus | undefined>;
  readOutput(outputId: string): Promise<LedgerOutput | undefined>;
  /** Undefined where the milestone was not applied here, or is pruned. */
  explainMilestone(index: number): Promise<ExplainedMilestone | undefined>;
  /** Undefined where no applied milestone references the block, or the data is pruned. */
  proveBlock(blockId: string): Promise<BlockProof | undefined>;
}
