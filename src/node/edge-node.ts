/**
 * What the routes ask the node, and nothing else of it. open-node.ts answers from D1, KV and the
 * upstreams, tests from made-up data.
 *
 * IDs are lower-case hex digits without 0x. Each result's type stands beside the function that
 * makes it; the routes take it from here.
 */
import type { EventCounts } from '../events/event-broker.ts';
import type { FollowerCounts } from '../follower/follower-counts.ts';
import type { FinalAnswer, FinalStatus, NoFinalLedger } from '../ledger/final/prove-final.ts';
import type { OutputList, OutputOfChain } from '../ledger/output-list/read-list.ts';
import type { BlockProof, ExplainedMilestone } from '../ledger/read/applied-milestone.ts';
import type { NftChanges } from '../ledger/read/nft-changes.ts';
import type { NftGallery } from '../ledger/read/nft-gallery.ts';
import type { NftOutputs } from '../ledger/read/nft-outputs.ts';
import type { NodeStatus } from '../ledger/read/node-status.ts';
import type { OutputStatus } from '../ledger/read/output-status.ts';
import type { StoredReceipts, TreasuryStatus } from '../ledger/read/receipts.ts';
import type { StoredBlock } from '../ledger/read/stored-block.ts';
import type {
  LedgerChanges,
  MilestoneName,
  StoredMilestone,
} from '../ledger/read/stored-milestone.ts';
import type { Tips } from '../ledger/read/tips.ts';
import type { NftAnswer, NftRequest } from '../nft-index/look-up-nft.ts';
import type { Kind, OutputQuery } from '../stardust/output-query.ts';
import type { FinalTreeName } from '../stardust/proof/final-ledger.ts';
import type { WhiteFlagRefusal, WhiteFlagRequest, WhiteFlagResult } from './compute-white-flag.ts';
import type { WhiteFlagExplanation } from './explain-white-flag.ts';
import type { ProofJudgement } from './validate-proof.ts';

export type { EventCounts } from '../events/event-broker.ts';
export type { FollowerCounts } from '../follower/follower-counts.ts';
export { shareUsed, UNHEALTHY_AT, WARN_AT } from '../ledger/core/database-size.ts';
export { LedgerUnreadable } from '../ledger/core/schema.ts';
export type { NoFinalLedger } from '../ledger/final/prove-final.ts';
export type { NotIndexed, OutputList } from '../ledger/output-list/read-list.ts';
export type {
  BlockProof,
  ExplainedBlock,
  ExplainedMilestone,
} from '../ledger/read/applied-milestone.ts';
export { MAX_CHANGES } from '../ledger/read/nft-changes.ts';
export type { NftStatus } from '../ledger/read/nft-gallery.ts';
export type { NftOutputs } from '../ledger/read/nft-outputs.ts';
export type { MilestoneStatus, NodeStatus } from '../ledger/read/node-status.ts';
export type { OutputStatus } from '../ledger/read/output-status.ts';
export type { StoredBlock } from '../ledger/read/stored-block.ts';
export type { MilestoneName } from '../ledger/read/stored-milestone.ts';
export type {
  RefusalReason,
  WhiteFlagRefusal,
  WhiteFlagRequest,
  WhiteFlagResult,
} from './compute-white-flag.ts';
export type { Decision, JudgedBlock } from './explain-white-flag.ts';

/** Every method throws a LedgerUnreadable where D1 holds a ledger that another version wrote. */
export interface EdgeNode {
  /**
   * Steps 3 to 6 of the contract (docs/contract.md#white-flag).
   *
   * @param client whose share it is of what the follower fetches
   */
  computeWhiteFlag(request: WhiteFlagRequest, client: string): Promise<WhiteFlagResult>;
  /** The same, with every block that leads to the roots. */
  explainWhiteFlag(
    request: WhiteFlagRequest,
    client: string,
  ): Promise<WhiteFlagExplanation | WhiteFlagRefusal>;
  /**
   * Answers at the ledger's own index where that is below `minLedgerIndex`; undefined where nothing
   * was imported.
   */
  lookUpNft(
    nftId: string,
    minLedgerIndex: number,
    request: NftRequest,
  ): Promise<NftAnswer | undefined>;
  /** As of lookUpNft, minLedgerIndex and undefined. */
  listOutputs(query: OutputQuery, minLedgerIndex: number): Promise<OutputList | undefined>;
  /** As of lookUpNft, minLedgerIndex and undefined. */
  lookUpChain(
    kind: 'alias' | 'foundry',
    id: string,
    minLedgerIndex: number,
  ): Promise<OutputOfChain | undefined>;
  /** The kinds of outputs that are in lists; none where nothing was imported. */
  readIndexedKinds(): Promise<readonly Kind[]>;
  /**
   * The unspent outputs of one to 100 NFTs, by the IDs of NFTs or of outputs. As of lookUpNft,
   * minLedgerIndex and undefined.
   */
  readNfts(ids: readonly string[], minLedgerIndex: number): Promise<NftOutputs | undefined>;
  /** By address or by issuer alone. As of lookUpNft, minLedgerIndex and undefined. */
  listNftOutputs(query: OutputQuery, minLedgerIndex: number): Promise<NftGallery | undefined>;
  /** After milestone `after`. As of lookUpNft, minLedgerIndex and undefined. */
  readNftChanges(after: number, minLedgerIndex: number): Promise<NftChanges | undefined>;
  /** Undefined where nothing was imported. */
  readStatus(): Promise<NodeStatus | undefined>;
  /** Names the import that the ledger grew from; undefined without a ledger. */
  readGeneration(): Promise<string | undefined>;
  /** Since the follower's object started. Undefined where nothing is followed. */
  readFollowerCounts(): Promise<FollowerCounts | undefined>;
  /** Whether this node has events. */
  readonly hasEvents: boolean;
  /**
   * A WebSocket to the broker of events; undefined where it takes no more clients.
   *
   * @param client key of its address (http/access/client-address.ts)
   */
  connectToEvents(client: string): Promise<WebSocket | undefined>;
  /** Undefined where there are no events. */
  readEventCounts(): Promise<EventCounts | undefined>;
  /**
   * Undefined where the ledger never had the output, or it was spent and is pruned. As of
   * lookUpNft, minLedgerIndex.
   */
  readOutput(outputId: string, minLedgerIndex: number): Promise<OutputStatus | undefined>;
  /** Undefined where the block is not known, or its bytes are pruned. */
  readBlock(blockId: string): Promise<StoredBlock | undefined>;
  /** Undefined where no such transaction was applied, or it is pruned. */
  readIncludedBlock(transactionId: string): Promise<StoredBlock | undefined>;
  /** Undefined where the milestone is not known, or is pruned. */
  readMilestone(name: MilestoneName): Promise<StoredMilestone | undefined>;
  /** The index of the applied milestone with this ID, as long as its ID is kept. */
  findMilestone(id: string): Promise<number | undefined>;
  /** Undefined where the milestone was not applied here, or is pruned. */
  readLedgerChanges(name: MilestoneName): Promise<LedgerChanges | 'too-large' | undefined>;
  /** All, or those of one milestone of the legacy network. Undefined where nothing was imported. */
  readReceipts(migratedAt?: number): Promise<StoredReceipts | undefined>;
  /** Undefined where nothing was imported. */
  readTreasury(): Promise<TreasuryStatus | undefined>;
  /** Undefined where nothing was imported. */
  readTips(): Promise<Tips | undefined>;
  /** Undefined where the milestone was not applied here, or is pruned. */
  explainMilestone(index: number): Promise<ExplainedMilestone | undefined>;
  /** Undefined where no applied milestone references the block, or the data is pruned. */
  proveBlock(blockId: string): Promise<BlockProof | undefined>;
  /** Undefined where the settings name no final milestone. */
  readFinalLedger(): Promise<FinalStatus | NoFinalLedger | undefined>;
  /** By an output ID or an NFT ID. As of readFinalLedger, undefined. */
  proveFinal(tree: FinalTreeName, key: string): Promise<FinalAnswer | NoFinalLedger | undefined>;
  /** Undefined where the settings name no keys. */
  validateProof(file: Readonly<Record<string, unknown>>): Promise<ProofJudgement | undefined>;
}
