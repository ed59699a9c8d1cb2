/**
 * The node as the routes see it (edge-node.ts): D1, KV and the upstreams behind one interface.
 *
 * Reads go through a D1 session, so that a replica near by may answer: whatever it says carries its
 * own ledger index.
 */
import { CLIENT_HEADER } from '../events/client.ts';
import { brokerOf } from '../events/events-stub.ts';
import { followerOf } from '../follower/follower-stub.ts';
import type { Database } from '../ledger/core/database.ts';
import { limitBytesOf } from '../ledger/core/database-size.ts';
import { readHead } from '../ledger/core/head.ts';
import { proveFinal, readFinalLedger } from '../ledger/final/prove-final.ts';
import type { NotBrought } from '../ledger/intake/block-source.ts';
import {
  readIndexedKinds,
  readOutputList,
  readOutputOfChain,
} from '../ledger/output-list/read-list.ts';
import { explainMilestone, proveBlock } from '../ledger/read/applied-milestone.ts';
import { readNftChanges } from '../ledger/read/nft-changes.ts';
import { readNftGallery } from '../ledger/read/nft-gallery.ts';
import { readNftOutputs } from '../ledger/read/nft-outputs.ts';
import { readNodeStatus } from '../ledger/read/node-status.ts';
import { readOutput } from '../ledger/read/output-status.ts';
import { readReceipts, readTreasury } from '../ledger/read/receipts.ts';
import { readBlock, readIncludedBlock, type StoredBlock } from '../ledger/read/stored-block.ts';
import {
  findMilestone,
  readLedgerChanges,
  readMilestone,
} from '../ledger/read/stored-milestone.ts';
import { readTips } from '../ledger/read/tips.ts';
import { describeError, writeLog } from '../log.ts';
import { lookUpNft, openNftSources } from '../nft-index/look-up-nft.ts';
import type { Settings } from '../settings.ts';
import { createSharedLimit } from '../shared-limit.ts';
import { createBlockIds } from '../upstream/block-cache.ts';
import { UpstreamFailure } from '../upstream/upstream.ts';
import {
  type Brought,
  computeWhiteFlag,
  type WhiteFlagOptions,
  type WhiteFlagRefusal,
  type WhiteFlagRequest,
} from './compute-white-flag.ts';
import type { EdgeNode } from './edge-node.ts';
import { explainWhiteFlag } from './explain-white-flag.ts';
import { validateProof } from './validate-proof.ts';

/**
 * Milestones beyond the ledger's next that a request may be about and yet be worth waiting for: the
 * follower may be a second behind.
 */
const MAX_MILESTONES_AHEAD = 2;

/** How long a request waits for the follower. */
const CATCH_UP_MS = 700;

/**
 * A coordinator waits two seconds. After so many milliseconds a request does not wait any longer for
 * blocks.
 */
const REQUEST_MS = 1500;

/**
 * Reads of single blocks that are not stored, in one isolate at once. The others wait for their
 * turn, so that a flood of them does not come before what the follower has to do.
 */
const READS_AT_ONCE = 6;
const MAX_READ_WAIT_MS = 500;

/**
 * IDs of blocks that no upstream gave, 1.6 MB, and milliseconds: a block that was just sent may be
 * known a moment later.
 */
const MAX_UNKNOWN_IDS = 10_000;
const UNKNOWN_MS = 3000;

/** A block by its ID that is not stored; undefined where it cannot be had. */
type ReadUnstored = (id: string) => Promise<StoredBlock | undefined>;

/** Roots, or an explanation of them. */
type Compute<Answer> = (
  db: Database,
  request: WhiteFlagRequest,
  options: WhiteFlagOptions,
) => Promise<Answer | WhiteFlagRefusal>;

interface Asked {
  request: WhiteFlagRequest;
  /** Whose share of what the follower fetches it takes. */
  client: string;
}

export function openNode(settings: Settings): EdgeNode {
  const { ledger, nftIndex, upstreams, milestoneKeys, finalMilestone } = settings;
  // in `serve` KV is on this machine, and miniflare's Cache API a folder that only grows
  const recentVersion = settings.oneIsolate ? undefined : settings.versionId;
  const nftSources = openNftSources(ledger, nftIndex, recentVersion, Date.now);
  const newSession = () => ledger.withSession('first-unconstrained');
  /** A replica may not have come to a milestone that was asked for. */
  const sessionFrom = (minLedgerIndex: number) =>
    minLedgerIndex > 0 ? ledger.withSession('first-primary') : newSession();
  const readUnstored = createUnstoredReader(settings);
  return {
    computeWhiteFlag: (request, client) =>
      answerOnceCaughtUp(newSession(), settings, { request, client }, computeWhiteFlag),
    explainWhiteFlag: (request, client) =>
      answerOnceCaughtUp(newSession(), settings, { request, client }, explainWhiteFlag),
    lookUpNft: (nftId, minLedgerIndex, request) =>
      lookUpNft(nftSources, nftId, minLedgerIndex, request),
    readStatus: () =>
      readNodeStatus(newSession(), {
        follows: upstreams.length > 0,
        finalMilestone,
        retention: settings.retentionMilestones,
        limitBytes: limitBytesOf(settings),
      }),
    readGeneration: async () => (await readHead(newSession()))?.generation,
    readFollowerCounts: async () =>
      upstreams.length > 0 ? followerOf(settings.follower).readCounts() : undefined,
    hasEvents: settings.events !== undefined,
    connectToEvents: async (client) => {
      const init = { headers: { upgrade: 'websocket', [CLIENT_HEADER]: client } };
      const response = await brokerOf(settings.events)!.fetch('https://events.invalid/', init);
      return response.webSocket ?? undefined;
    },
    readEventCounts: async () => brokerOf(settings.events)?.readCounts(),
    listOutputs: (query, minLedgerIndex) => readOutputList(sessionFrom(minLedgerIndex), query),
    lookUpChain: (kind, id, minLedgerIndex) =>
      readOutputOfChain(sessionFrom(minLedgerIndex), kind, id),
    readIndexedKinds: () => readIndexedKinds(newSession()),
    readNfts: (ids, minLedgerIndex) => readNftOutputs(sessionFrom(minLedgerIndex), ids),
    listNftOutputs: (query, minLedgerIndex) => readNftGallery(sessionFrom(minLedgerIndex), query),
    readNftChanges: (after, minLedgerIndex) =>
      readNftChanges(sessionFrom(Math.max(after, minLedgerIndex)), after),
    readOutput: (outputId, minLedgerIndex) => readOutput(sessionFrom(minLedgerIndex), outputId),
    readBlock: async (blockId) => {
      const stored = await readBlock(newSession(), blockId);
      return stored ?? readUnstored(blockId);
    },
    readIncludedBlock: (id) => readIncludedBlock(newSession(), id),
    readMilestone: (name) => readMilestone(newSession(), name),
    findMilestone: (id) => findMilestone(newSession(), id),
    readLedgerChanges: (name) => readLedgerChanges(newSession(), name),
    readReceipts: (migratedAt) => readReceipts(newSession(), migratedAt),
    readTreasury: () => readTreasury(newSession()),
    readTips: () => readTips(newSession()),
    explainMilestone: (index) => explainMilestone(newSession(), index),
    proveBlock: (blockId) => proveBlock(newSession(), blockId),
    readFinalLedger: async () =>
      finalMilestone === undefined ? undefined : readFinalLedger(newSession(), finalMilestone),
    proveFinal: async (tree, key) =>
      finalMilestone === undefined
        ? undefined
        : proveFinal(newSession(), finalMilestone, tree, key),
    validateProof: async (file) => milestoneKeys && validateProof(file, milestoneKeys),
  };
}

/**
 * Reads a block that is not stored, from the follower's memory or the upstreams, and keeps it in
 * memory only: a node that follows this one asks for it. The block is undefined where nothing may be
 * fetched, no upstream knows it, or an earlier milestone references it.
 */
function createUnstoredReader(settings: Settings): ReadUnstored {
  const unknown = createBlockIds(Date.now, MAX_UNKNOWN_IDS, UNKNOWN_MS);
  const refuse = () => new UpstreamFailure('too many requests wait for blocks');
  const limit = createSharedLimit(Date.now, {
    places: READS_AT_ONCE,
    maxWaitMs: MAX_READ_WAIT_MS,
    refuse,
  });
  return async (blockId) => {
    if (!mayFetch(settings) || unknown.has(blockId)) return undefined;
    const head = await readHead(settings.ledger.withSession('first-unconstrained'));
    if (head === undefined) return undefined;
    const bytes = await limit(() => followerOf(settings.follower).readUnstored(blockId));
    if (bytes === undefined) unknown.add(blockId);
    return (
      bytes && { blockId, bytes, isSolid: false, referenced: undefined, ledgerIndex: head.ledger }
    );
  };
}

/** Without keys nothing that is fetched could be told to be a milestone. */
function mayFetch({ upstreams, milestoneKeys }: Settings): boolean {
  return upstreams.length > 0 && milestoneKeys !== undefined;
}

/**
 * A coordinator asks about the next milestone as soon as it has issued one. The replica asked, or
 * the ledger itself, may not have that one yet. Then the follower is told to look now, and the
 * request is retried.
 */
async function answerOnceCaughtUp<Answer extends { ok: true }>(
  db: Database,
  settings: Settings,
  asked: Asked,
  compute: Compute<Answer>,
): Promise<Answer | WhiteFlagRefusal> {
  const deadline = Date.now() + REQUEST_MS;
  const result = await answerFromLedger(db, settings, asked, { compute, deadline });
  if (result.ok || result.ahead === undefined || result.ahead > MAX_MILESTONES_AHEAD) return result;
  if (settings.upstreams.length > 0) await catchUp(settings);
  const primary = settings.ledger.withSession('first-primary');
  return answerFromLedger(primary, settings, asked, { compute, deadline });
}

async function catchUp(settings: Settings): Promise<void> {
  const pass = followerOf(settings.follower)
    .catchUp()
    .catch((error: unknown) =>
      writeLog('warn', 'node.not-caught-up', { error: describeError(error) }),
    );
  await within(CATCH_UP_MS, pass, undefined);
}

/** What the work comes to, or `late` after so many milliseconds. */
async function within<T, Late>(ms: number, work: Promise<T>, late: Late): Promise<T | Late> {
  const { promise, resolve } = Promise.withResolvers<Late>();
  // cleared, as workerd allows 10,000 timers
  const timer = setTimeout(() => resolve(late), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Has the follower store blocks that D1 does not have, and waits for it until the deadline. */
async function bringWithin(
  { follower, ledger }: Settings,
  { ids, client, deadline }: { ids: readonly string[]; client: string; deadline: number },
): Promise<Brought> {
  const bringing = followerOf(follower)
    .bring(ids, client)
    .catch((error: unknown): NotBrought => {
      return { fault: 'upstream-failed', detail: describeError(error) };
    });
  const notBrought = await within(deadline - Date.now(), bringing, LATE);
  const db = ledger.withSession('first-primary');
  if (notBrought?.fault !== 'upstream-failed') return { db, notBrought };
  writeLog('warn', 'upstream.failed', { detail: notBrought.detail });
  return { db, notBrought: { ...notBrought, detail: NO_BLOCKS } };
}

const LATE: NotBrought = {
  fault: 'upstream-failed',
  detail: 'upstream did not give the cone in time',
};

/** What a request says where an upstream failed. */
const NO_BLOCKS = 'an upstream node does not answer as it should';

function answerFromLedger<Answer extends { ok: true }>(
  db: Database,
  settings: Settings,
  { request, client }: Asked,
  { compute, deadline }: { compute: Compute<Answer>; deadline: number },
): Promise<Answer | WhiteFlagRefusal> {
  const { milestoneKeys: keys } = settings;
  const bring = mayFetch(settings)
    ? (ids: readonly string[]) => bringWithin(settings, { ids, client, deadline })
    : undefined;
  return compute(db, request, { keys, bring });
}
