/**
 * The node as the routes see it: D1, KV and the upstreams behind one interface, for which tests
 * have made-up data. Routes of modules read by queries of their own, through `session`. Reads go
 * through a D1 session, so that a near replica may answer: its answers carry its own ledger index. A
 * method answers at the ledger's own index if that is below `minLedgerIndex`. It returns undefined if
 * nothing was imported, or if its function does, and throws a LedgerUnreadable if another version
 * wrote the ledger. IDs are lower-case hex digits without 0x.
 */
import type { FollowerCounts } from '../follower/follower-counts.ts';
import { followerOf } from '../follower/follower-stub.ts';
import type { Database } from '../ledger/core/database.ts';
import { limitBytesOf } from '../ledger/core/database-size.ts';
import { onceMore } from '../ledger/core/fence.ts';
import { readHead } from '../ledger/core/head.ts';
import { waitForCalls } from '../ledger/core/wrap-database.ts';
import { readIndexedKinds } from '../ledger/output-list/indexed-kinds.ts';
import { readNodeStatus } from '../ledger/read/node-status.ts';
import { readBlock, type StoredBlock } from '../ledger/read/stored-block.ts';
import { lookUpNft, type NftRequest } from '../nft-index/look-up-nft.ts';
import { openNftSources } from '../nft-index/nft-sources.ts';
import { takeTurns } from '../platform/clock.ts';
import type { Settings } from '../settings.ts';
import { createBlockIds } from '../upstream/block-ids.ts';
import { answerOnceCaughtUp, mayFetch, milestoneRulesOf } from './answer-once-caught-up.ts';
import {
  computeWhiteFlag,
  type InPlace,
  type WhiteFlagOptions,
  type WhiteFlagRefusal,
  type WhiteFlagRequest,
  walkProposal,
} from './compute-white-flag.ts';

/** Milliseconds of reads besides one call, after which other requests have a turn. */
const READS_MS = 5;

export type EdgeNode = ReturnType<typeof openNode>;

export function openNode(settings: Settings) {
  const { ledger, nftIndex, upstreams, finalMilestone, versionId, oneIsolate } = settings;
  const nearest = () => ledger.withSession('first-unconstrained');
  const endStep = takeTurns(READS_MS);
  /** Where one thread answers everything, other requests come between two calls. */
  const inTurns = (db: Database) =>
    oneIsolate ? waitForCalls(db, (run) => run.finally(endStep)) : db;
  /** A replica may not have come to a milestone that was asked for. */
  const session = (minLedgerIndex = 0): Database =>
    inTurns(minLedgerIndex > 0 ? ledger.withSession('first-primary') : nearest());
  const readGeneration = async () => (await readHead(session()))?.generation;
  const readInServe = oneIsolate ? readGeneration : undefined;
  const nftSources = openNftSources(ledger, nftIndex, versionId, Date.now, readInServe);
  return {
    session,
    /**
     * Runs steps 3 to 6 of the contract (docs/contract.md#white-flag).
     *
     * @param client who is charged for what the follower fetches
     */
    computeWhiteFlag: (request: WhiteFlagRequest, client: string, inPlace?: InPlace) =>
      answerOnceCaughtUp(nearest(), settings, { request, client, inPlace }, computeWhiteFlag),
    /**
     * Computes what else answers to a proposal, once the ledger and what it names are there: it waits
     * for nobody any more.
     */
    answerProposal: async <Answer>(
      request: WhiteFlagRequest,
      client: string,
      compute: (
        db: Database,
        request: WhiteFlagRequest,
        options: WhiteFlagOptions,
      ) => Promise<Answer>,
      inPlace?: InPlace,
    ): Promise<Answer | WhiteFlagRefusal> => {
      // the session that has all of it
      const find = (db: Database, ...asked: [WhiteFlagRequest, WhiteFlagOptions]) =>
        onceMore(() =>
          walkProposal(inTurns(db), ...asked, async (walked) => ({
            ok: true as const,
            db: walked.db,
          })),
        );
      const found = await answerOnceCaughtUp(
        nearest(),
        settings,
        { request, client, inPlace },
        find,
      );
      if (!found.ok) return found;
      return compute(inTurns(found.db), request, { rules: milestoneRulesOf(settings) });
    },
    lookUpNft: (nftId: string, minLedgerIndex: number, request: NftRequest) =>
      lookUpNft(nftSources, nftId, minLedgerIndex, request),
    readStatus: () =>
      readNodeStatus(session(), {
        follows: upstreams.length > 0,
        finalMilestone,
        retention: settings.retentionMilestones,
        limitBytes: limitBytesOf(settings),
      }),
    /** Names the import that the ledger grew from. */
    readGeneration,
    /** Counts since the follower's object started; undefined if nothing is followed. */
    readFollowerCounts: async (): Promise<FollowerCounts | undefined> =>
      upstreams.length > 0 ? followerOf(settings.follower).readCounts() : undefined,
    readIndexedKinds: () => readIndexedKinds(session()),
    /** Reads a block that is not stored. */
    readUnstored: createUnstoredReader(settings),
  };
}

/** IDs of blocks that no upstream gave: most (1.6 MB), and milliseconds that they are kept. */
const MAX_UNKNOWN_IDS = 10_000;
const UNKNOWN_MS = 3000;

/**
 * Creates the reader. It returns undefined if D1's primary does not have the block, and nothing may
 * be fetched, no upstream knows it, or an earlier milestone references it, whose blocks are not here.
 */
function createUnstoredReader(settings: Settings) {
  const unknown = createBlockIds(Date.now, MAX_UNKNOWN_IDS, UNKNOWN_MS);
  return async (blockId: string, client: string): Promise<StoredBlock | undefined> => {
    if (unknown.has(blockId)) return undefined;
    const found = mayFetch(settings)
      ? await followerOf(settings.follower).readUnstored(blockId, client)
      : undefined;
    // it may have been stored, or referenced: an upstream is behind, or a replica was
    const late = await readBlock(settings.ledger.withSession('first-primary'), blockId);
    if (late) return late;
    if (found && late === undefined) return { blockId, ...found, referenced: undefined };
    unknown.add(blockId);
    return undefined;
  };
}
