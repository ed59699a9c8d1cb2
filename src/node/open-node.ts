/**
 * The node as the routes see it (edge-node.ts): D1, KV and the upstreams behind one interface.
 *
 * Reads go through a D1 session, so that a replica near by may answer: whatever it says carries its
 * own ledger index.
 */
import { followerOf } from '../follower/follower-stub.ts';
import { explainMilestone, proveBlock } from '../ledger/applied-milestone.ts';
import type { Database } from '../ledger/database.ts';
import type { Head } from '../ledger/head.ts';
import { readNftList } from '../ledger/nft-list/read-list.ts';
import { readNftOutputs } from '../ledger/nft-outputs.ts';
import { readNodeStatus } from '../ledger/node-status.ts';
import { readOutput } from '../ledger/output-status.ts';
import { refuseOldLedger } from '../ledger/schema.ts';
import { describeError, writeLog } from '../log.ts';
import { lookUpNft, openNftSources } from '../nft-index/look-up-nft.ts';
import type { Settings } from '../settings.ts';
import type { TreeHasher } from '../stardust/tree-hasher/tree-hasher.ts';
import { createOpenBlockCache } from '../upstream/block-cache.ts';
import { createProposalSource } from '../upstream/fetch-blocks.ts';
import { createFetchQuota } from '../upstream/fetch-quota.ts';
import { openUpstreams } from '../upstream/open-upstreams.ts';
import { createRanking } from '../upstream/ranking.ts';
import { UpstreamFailure } from '../upstream/upstream.ts';
import {
  computeWhiteFlag,
  type WhiteFlagRequest,
  type WhiteFlagResult,
} from './compute-white-flag.ts';
import type { EdgeNode } from './edge-node.ts';
import { openTreeHasher } from './open-tree-hasher.ts';

/**
 * Milestones beyond the ledger's next that a request may be about and yet be worth waiting for: the
 * follower may be a second behind.
 */
const MAX_MILESTONES_AHEAD = 2;

/** How long a request waits for the follower. */
const CATCH_UP_MS = 700;

/** How long a request waits until pushed blocks are stored. */
const STORE_HELD_MS = 500;

/** A coordinator waits two seconds. After so many of them nothing more is fetched. */
const REQUEST_MS = 1500;

/** The most blocks that are fetched for one request. */
const MAX_FETCHED_BLOCKS = 2000;

/** Heap for blocks that requests remember, a part of an isolate's 128 MB. */
const MAX_REMEMBERED_BYTES = 16_000_000;

/** What the requests of one isolate share. */
interface Shared {
  settings: Settings;
  /** Blocks that D1 does not have, fetched within the quota and remembered from then on. */
  sourceFor(head: Head, deadline: number): ReturnType<typeof createProposalSource>;
  /** Works out the roots. */
  treeHasher: TreeHasher;
}

export function openNode(settings: Settings): EdgeNode {
  const { ledger, nftIndex, upstreams } = settings;
  const nftSources = openNftSources(ledger, nftIndex, settings.versionId, Date.now);
  const newSession = () => ledger.withSession('first-unconstrained');
  /** A replica may not have come to a milestone that was asked for. */
  const sessionFrom = (minLedgerIndex: number) =>
    minLedgerIndex > 0 ? ledger.withSession('first-primary') : newSession();
  const shared = {
    settings,
    sourceFor: createSources(settings),
    treeHasher: openTreeHasher(settings.treeHasher),
  };
  /** What is not found may be in a ledger of version 0.1, which is not read. */
  const certain = async <T>(answer: Promise<T | undefined>): Promise<T | undefined> => {
    const found = await answer;
    if (found === undefined) await refuseOldLedger(ledger);
    return found;
  };
  return {
    computeWhiteFlag: (request) => computeOnceCaughtUp(newSession(), shared, request),
    lookUpNft: (nftId, minLedgerIndex, request) =>
      certain(lookUpNft(nftSources, nftId, minLedgerIndex, request)),
    listNfts: (query, minLedgerIndex) => certain(readNftList(sessionFrom(minLedgerIndex), query)),
    readNfts: (nftIds, minLedgerIndex) =>
      certain(readNftOutputs(sessionFrom(minLedgerIndex), nftIds)),
    readStatus: () => certain(readNodeStatus(newSession(), upstreams.length > 0)),
    readOutput: (outputId, minLedgerIndex) =>
      certain(readOutput(sessionFrom(minLedgerIndex), outputId)),
    explainMilestone: (index) => certain(explainMilestone(newSession(), index)),
    proveBlock: (blockId) => certain(proveBlock(newSession(), blockId)),
  };
}

function createSources(settings: Settings): Shared['sourceFor'] {
  const limitToQuota = createFetchQuota(Date.now);
  const ranking = createRanking(Date.now);
  const openBlocks = createOpenBlockCache(MAX_REMEMBERED_BYTES);
  return ({ ledger, generation }, deadline) => {
    const upstreams = openUpstreams(settings, { timeout: answerMs(settings), attempts: 1 });
    const limits = { maxBlocks: MAX_FETCHED_BLOCKS, deadline };
    const fetched = openBlocks(generation, ledger);
    const index = ledger + 1;
    return limitToQuota(createProposalSource({ upstreams, index, limits, fetched, ranking }));
  };
}

/**
 * For one answer of an upstream: of several all but the last may hang, and there is still time to
 * ask that one.
 */
function answerMs({ upstreams }: Settings): number {
  return upstreams.length === 1 ? REQUEST_MS : Math.floor(REQUEST_MS / (upstreams.length + 1));
}

/**
 * A coordinator asks about the next milestone as soon as it has issued one. The replica asked, or
 * the ledger itself, may not have that one yet. Then the follower is told to look now, and the
 * question is put once more. The request itself stores nothing.
 */
async function computeOnceCaughtUp(
  db: Database,
  shared: Shared,
  request: WhiteFlagRequest,
): Promise<WhiteFlagResult> {
  const { settings } = shared;
  const deadline = Date.now() + REQUEST_MS;
  const result = await computeFromLedger(db, shared, request, deadline);
  if (result.ok || result.ahead === undefined || result.ahead > MAX_MILESTONES_AHEAD) return result;
  if (settings.upstreams.length > 0) await catchUp(settings);
  return computeFromLedger(settings.ledger.withSession('first-primary'), shared, request, deadline);
}

async function catchUp(settings: Settings): Promise<void> {
  const pass = followerOf(settings.follower)
    .catchUp()
    .catch((error: unknown) =>
      writeLog('warn', 'follower did not catch up', { error: describeError(error) }),
    );
  await Promise.race([pass, new Promise((resolve) => setTimeout(resolve, CATCH_UP_MS))]);
}

/**
 * Blocks that came in since the last pack are with the follower, which stores them. Undefined where
 * it has no feed, or takes too long: then they are fetched.
 */
async function storePushedBlocks({ follower, ledger }: Settings): Promise<Database | undefined> {
  const storing = followerOf(follower)
    .storeHeld()
    .catch((error: unknown) => {
      writeLog('warn', 'pushed blocks not stored', { error: describeError(error) });
      return false;
    });
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), STORE_HELD_MS));
  return (await Promise.race([storing, late])) ? ledger.withSession('first-primary') : undefined;
}

async function computeFromLedger(
  db: Database,
  { settings, sourceFor, treeHasher }: Shared,
  request: WhiteFlagRequest,
  deadline: number,
): Promise<WhiteFlagResult> {
  const { upstreams, milestoneKeys: keys } = settings;
  // without keys nothing that is fetched could be told to be a milestone
  const mayFetch = upstreams.length > 0 && keys !== undefined;
  const openSource = mayFetch ? (head: Head) => sourceFor(head, deadline) : undefined;
  const storeHeld = () => storePushedBlocks(settings);
  try {
    return await computeWhiteFlag(db, request, {
      keys,
      openSource,
      ...(mayFetch && { storeHeld }),
      treeHasher,
    });
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    writeLog('warn', 'upstream fails', { detail: describeError(error) });
    return {
      ok: false,
      reason: 'failed',
      detail: 'an upstream node does not answer as it should',
    };
  }
}
