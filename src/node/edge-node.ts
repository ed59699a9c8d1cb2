/**
 * The node as the routes see it: D1, KV and the upstreams behind one interface, for which tests
 * have made-up data. Reads go through a D1 session, so that a near replica may answer: its answers
 * carry its own ledger index. A method answers at the ledger's own index if that is below
 * `minLedgerIndex`. It returns undefined if nothing was imported, or if its function does, and
 * throws a LedgerUnreadable if another version wrote the ledger. IDs are lower-case hex digits
 * without 0x.
 */
import { CLIENT_HEADER } from '../events/client.ts';
import type { EventCounts } from '../events/event-broker.ts';
import { brokerOf } from '../events/events-stub.ts';
import type { FollowerCounts } from '../follower/follower-counts.ts';
import { followerOf } from '../follower/follower-stub.ts';
import type { Database } from '../ledger/core/database.ts';
import { readHead } from '../ledger/core/head.ts';
import { limitBytesOf } from '../ledger/core/size/database-size.ts';
import { waitAfterCalls } from '../ledger/core/size/measure-database.ts';
import { proveFinal, readFinalLedger } from '../ledger/final/prove-final.ts';
import { readStatement, type StatementQuery } from '../ledger/final/read-statement.ts';
import type { OutputQuery } from '../ledger/output-list/output-query.ts';
import {
  readIndexedKinds,
  readOutputList,
  readOutputOfChain,
} from '../ledger/output-list/read-list.ts';
import { type NamedChange, readNftCertificate } from '../ledger/provenance/nft-certificate.ts';
import { type HistoryPosition, readNftHistory } from '../ledger/provenance/nft-history.ts';
import { explainMilestone, proveBlock } from '../ledger/read/applied-milestone.ts';
import { type OwnersQuery, readCollectionOwners } from '../ledger/read/collection-owners.ts';
import { readNftChanges } from '../ledger/read/nft-changes.ts';
import { readNftGallery } from '../ledger/read/nft-gallery.ts';
import { readNftOutputs } from '../ledger/read/nft-outputs.ts';
import { readNodeStatus } from '../ledger/read/node-status.ts';
import { readOutput } from '../ledger/read/output-status.ts';
import { readReceipts, readTreasury } from '../ledger/read/receipts.ts';
import { readBlock, readIncludedBlock } from '../ledger/read/stored-block.ts';
import {
  findMilestone,
  type MilestoneName,
  readLedgerChanges,
  readMilestone,
} from '../ledger/read/stored-milestone.ts';
import { readTips } from '../ledger/read/tips.ts';
import { lookUpNft, type NftRequest } from '../nft-index/look-up-nft.ts';
import { openNftSources } from '../nft-index/nft-sources.ts';
import { takeTurns } from '../platform/clock.ts';
import type { Settings } from '../settings.ts';
import type { FinalTreeName } from '../stardust/proof/final-ledger.ts';
import { answerOnceCaughtUp } from './answer-once-caught-up.ts';
import { computeWhiteFlag, type WhiteFlagRequest } from './compute-white-flag.ts';
import { explainWhiteFlag } from './explain-white-flag.ts';
import { createUnstoredReader } from './read-unstored.ts';
import { validateProof } from './validate-proof.ts';

export type { EventCounts } from '../events/event-broker.ts';
export type { FollowerCounts } from '../follower/follower-counts.ts';
export { LedgerDamaged } from '../ledger/core/checksum.ts';
export { isMissingTable, LedgerUnreadable, NO_LEDGER } from '../ledger/core/head.ts';
export { shareUsed, UNHEALTHY_AT, WARN_AT } from '../ledger/core/size/database-size.ts';
export type { NoFinalLedger } from '../ledger/final/prove-final.ts';
export type { StatementQuery } from '../ledger/final/read-statement.ts';
export {
  ALL_KINDS,
  END,
  type Kind,
  type OutputFilters,
  type OutputQuery,
  type Position,
  START,
} from '../ledger/output-list/output-query.ts';
export type { NotIndexed, OutputList } from '../ledger/output-list/read-list.ts';
export type { NamedChange, NftCertificate } from '../ledger/provenance/nft-certificate.ts';
export {
  type HistoryPosition,
  MAX_HISTORY,
  type NftChange,
} from '../ledger/provenance/nft-history.ts';
export type {
  BlockProof,
  ExplainedBlock,
} from '../ledger/read/applied-milestone.ts';
export { MAX_COLLECTION, type OwnersQuery } from '../ledger/read/collection-owners.ts';
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

/** Milliseconds of reads besides one call, after which other requests have a turn. */
const READS_MS = 5;

export type EdgeNode = ReturnType<typeof openNode>;

export function openNode(settings: Settings) {
  const { ledger, nftIndex, upstreams, milestoneKeys, finalMilestone } = settings;
  const nftSources = openNftSources(ledger, nftIndex, settings, Date.now);
  const nearest = () => ledger.withSession('first-unconstrained');
  const endStep = takeTurns(READS_MS);
  /** Where one thread answers everything, other requests come between two calls. */
  const inTurns = (db: Database): Database =>
    settings.oneIsolate ? waitAfterCalls(db, endStep) : db;
  const newSession = () => inTurns(nearest());
  /** A replica may not have come to a milestone that was asked for. */
  const sessionFrom = (minLedgerIndex: number) =>
    minLedgerIndex > 0 ? inTurns(ledger.withSession('first-primary')) : newSession();
  const readUnstored = createUnstoredReader(settings);
  return {
    /**
     * Runs steps 3 to 6 of the contract (docs/contract.md#white-flag).
     *
     * @param client who is charged for what the follower fetches
     */
    computeWhiteFlag: (request: WhiteFlagRequest, client: string) =>
      answerOnceCaughtUp(nearest(), settings, { request, client }, computeWhiteFlag),
    explainWhiteFlag: (request: WhiteFlagRequest, client: string) =>
      answerOnceCaughtUp(nearest(), settings, { request, client }, (db, ...asked) =>
        explainWhiteFlag(db, ...asked, inTurns),
      ),
    lookUpNft: (nftId: string, minLedgerIndex: number, request: NftRequest) =>
      lookUpNft(nftSources, nftId, minLedgerIndex, request),
    readStatus: () =>
      readNodeStatus(newSession(), {
        follows: upstreams.length > 0,
        finalMilestone,
        retention: settings.retentionMilestones,
        limitBytes: limitBytesOf(settings),
      }),
    /** Names the import that the ledger grew from. */
    readGeneration: async () => (await readHead(newSession()))?.generation,
    /** Counts since the follower's object started; undefined if nothing is followed. */
    readFollowerCounts: async (): Promise<FollowerCounts | undefined> =>
      upstreams.length > 0 ? followerOf(settings.follower).readCounts() : undefined,
    hasEvents: settings.events !== undefined,
    baseToken: settings.baseToken,
    /**
     * Opens a WebSocket to the broker of events; undefined if it takes no more clients.
     *
     * @param client key of its address (http/access/client-address.ts)
     */
    connectToEvents: async (client: string) => {
      const init = { headers: { upgrade: 'websocket', [CLIENT_HEADER]: client } };
      const response = await brokerOf(settings.events)!.fetch('https://events.invalid/', init);
      return response.webSocket ?? undefined;
    },
    readEventCounts: async (): Promise<EventCounts | undefined> =>
      brokerOf(settings.events)?.readCounts(),
    listOutputs: (query: OutputQuery, minLedgerIndex: number) =>
      readOutputList(sessionFrom(minLedgerIndex), query),
    lookUpChain: (kind: 'alias' | 'foundry', id: string, minLedgerIndex: number) =>
      readOutputOfChain(sessionFrom(minLedgerIndex), kind, id),
    readIndexedKinds: () => readIndexedKinds(newSession()),
    readNfts: (ids: readonly string[], minLedgerIndex: number) =>
      readNftOutputs(sessionFrom(minLedgerIndex), ids),
    listNftOutputs: (query: OutputQuery, minLedgerIndex: number) =>
      readNftGallery(sessionFrom(minLedgerIndex), query),
    readCollectionOwners: (query: OwnersQuery, minLedgerIndex: number) =>
      readCollectionOwners(sessionFrom(minLedgerIndex), query),
    readNftChanges: (after: number, minLedgerIndex: number) =>
      readNftChanges(sessionFrom(Math.max(after, minLedgerIndex)), after),
    readNftHistory: (
      nftId: string,
      pageSize: number,
      from: HistoryPosition | undefined,
      minLedgerIndex: number,
    ) => readNftHistory(sessionFrom(minLedgerIndex), nftId, pageSize, from),
    readNftCertificate: (nftId: string, named: NamedChange | undefined, minLedgerIndex: number) =>
      readNftCertificate(sessionFrom(minLedgerIndex), nftId, named),
    readOutput: (outputId: string, minLedgerIndex: number) =>
      readOutput(sessionFrom(minLedgerIndex), outputId),
    /** @param client whose share of what is fetched it is */
    readBlock: async (blockId: string, client: string) => {
      const stored = await readBlock(newSession(), blockId);
      return stored ?? readUnstored(blockId, client);
    },
    /** Reads the block by the ID of the transaction that was applied. */
    readIncludedBlock: (id: string) => readIncludedBlock(newSession(), id),
    readMilestone: (name: MilestoneName) => readMilestone(newSession(), name),
    findMilestone: (id: string) => findMilestone(newSession(), id),
    readLedgerChanges: (name: MilestoneName) => readLedgerChanges(newSession(), name),
    /** Reads all receipts, or those of one milestone of the legacy network. */
    readReceipts: (migratedAt?: number) => readReceipts(newSession(), migratedAt),
    readTreasury: () => readTreasury(newSession()),
    readTips: () => readTips(newSession()),
    explainMilestone: (index: number) => explainMilestone(newSession(), index),
    proveBlock: (blockId: string) => proveBlock(newSession(), blockId),
    /** Undefined where the settings name no final milestone. */
    readFinalLedger: async () =>
      finalMilestone === undefined ? undefined : readFinalLedger(newSession(), finalMilestone),
    /** Proves by an output ID or an NFT ID; undefined as readFinalLedger is. */
    proveFinal: async (tree: FinalTreeName, key: string) =>
      finalMilestone === undefined
        ? undefined
        : proveFinal(newSession(), finalMilestone, tree, key),
    /** Reads a statement; undefined as readFinalLedger is. */
    readStatement: async (query: StatementQuery) =>
      finalMilestone === undefined ? undefined : readStatement(newSession(), finalMilestone, query),
    /** Undefined where the settings name no keys. */
    validateProof: async (file: Readonly<Record<string, unknown>>) =>
      milestoneKeys && validateProof(file, milestoneKeys),
  };
}
