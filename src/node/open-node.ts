/**
 * The node as the routes see it (edge-node.ts): D1, KV and the upstreams behind one interface.
 *
 * Reads go through a D1 session, so that a replica near by may answer: whatever it says carries its
 * own ledger index.
 */
import { waitUntil } from 'cloudflare:workers';
import { brokerOf } from '../events/events-stub.ts';
import { followerOf } from '../follower/follower-stub.ts';
import type { Database } from '../ledger/core/database.ts';
import { limitBytesOf } from '../ledger/core/database-size.ts';
import { type Head, readHead } from '../ledger/core/head.ts';
import { proveFinal, readFinalLedger } from '../ledger/final/prove-final.ts';
import { ConeUnavailable } from '../ledger/intake/block-source.ts';
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
import {
  type BlockIds,
  createBlockCache,
  createBlockIds,
  ofLedgerIndex,
} from '../upstream/block-cache.ts';
import { createProposalSource, type ProposalSource } from '../upstream/fetch-blocks.ts';
import { createFetchQuota, type FetchQuota } from '../upstream/fetch-quota.ts';
import { createRanking } from '../upstream/ranking.ts';
import { openUpstreams } from '../upstream/rest-upstream.ts';
import { createSharedHeads } from '../upstream/shared-heads.ts';
import { UpstreamFailure } from '../upstream/upstream.ts';
import {
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

/** How long a request waits until pushed blocks are stored. */
const STORE_PUSHED_MS = 1000;

/** A coordinator waits two seconds. After so many of them nothing more is fetched. */
const REQUEST_MS = 1500;

/**
 * A read of a block waits for its turn and for two answers of an upstream, which come or fail
 * within REQUEST_MS each: so none of them outlives the read, and takes a place without counting.
 */
const READ_MS = 4000;

/** The most blocks that are fetched for one request. */
const MAX_FETCHED_BLOCKS = 2000;

/**
 * Blocks that all requests of one isolate may have fetched or asked about in ten seconds: for the
 * white flag, of which a busy coordinator needs a tenth; and for reads of single blocks, which
 * never take what is the white flag's.
 */
const PROPOSAL_QUOTA_BLOCKS = 20_000;
const READ_QUOTA_BLOCKS = 2000;

/**
 * Reads of single blocks that ask an upstream at once. In `serve` one isolate answers everything: a
 * flood of reads would make a white-flag request wait in line for the database and the upstream.
 */
const READS_AT_ONCE = 6;

/** Heap for blocks that requests remember, a part of an isolate's 128 MB. */
const MAX_REMEMBERED_BYTES = 16_000_000;

/** IDs of unreferenced blocks that requests remember: 2 MB. */
const MAX_UNREFERENCED_IDS = 12_000;

/**
 * IDs of blocks that no upstream gave, 1.6 MB, and milliseconds: a block that was just sent may be
 * known a moment later. For reads of single blocks only; a coordinator that asks again must not be
 * told what was true before.
 */
const MAX_UNKNOWN_IDS = 10_000;
const UNKNOWN_MS = 3000;

/** What the requests of one isolate share. */
interface Shared {
  settings: Settings;
  /** Blocks that D1 does not have, fetched within the quota and remembered from then on. */
  sourceFor(head: Head, deadline: number): ProposalSource;
  /** The same for reads of single blocks: a quota of their own, and signatures are not verified. */
  readSourceFor(head: Head, deadline: number): ProposalSource;
  /** What reads of single blocks did not find upstream. */
  unknownBlocks: BlockIds;
}

/** Roots, or an explanation of them. */
type Compute<Answer> = (
  db: Database,
  request: WhiteFlagRequest,
  options: WhiteFlagOptions,
) => Promise<Answer | WhiteFlagRefusal>;

export function openNode(settings: Settings): EdgeNode {
  const { ledger, nftIndex, upstreams, milestoneKeys, finalMilestone } = settings;
  // in `serve` KV is on this machine, and miniflare's Cache API a folder that only grows
  const recentVersion = settings.oneIsolate ? undefined : settings.versionId;
  const nftSources = openNftSources(ledger, nftIndex, recentVersion, Date.now);
  const newSession = () => ledger.withSession('first-unconstrained');
  /** A replica may not have come to a milestone that was asked for. */
  const sessionFrom = (minLedgerIndex: number) =>
    minLedgerIndex > 0 ? ledger.withSession('first-primary') : newSession();
  const shared = {
    settings,
    ...createSources(settings),
  };
  return {
    computeWhiteFlag: (request) =>
      answerOnceCaughtUp(newSession(), shared, request, computeWhiteFlag),
    explainWhiteFlag: (request) =>
      answerOnceCaughtUp(newSession(), shared, request, explainWhiteFlag),
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
    connectToEvents: async () => {
      const init = { headers: { upgrade: 'websocket' } };
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
      return stored ?? fetchUnreferencedBlock(newSession(), shared, blockId);
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

function createSources(
  settings: Settings,
): Pick<Shared, 'sourceFor' | 'readSourceFor' | 'unknownBlocks'> {
  const ranking = createRanking(Date.now);
  const readConfirmedAt = createSharedHeads(Date.now, waitUntil);
  const remembered = ofLedgerIndex(() => ({
    fetched: createBlockCache(MAX_REMEMBERED_BYTES),
    unreferenced: createBlockIds(Date.now, MAX_UNREFERENCED_IDS),
  }));
  const within =
    (limitToQuota: FetchQuota, verifiesSignatures: boolean): Shared['sourceFor'] =>
    ({ ledger, generation }, deadline) => {
      const source = createProposalSource({
        upstreams: openUpstreams(settings, { timeout: answerMs(settings), attempts: 1 }),
        index: ledger + 1,
        limits: { maxBlocks: MAX_FETCHED_BLOCKS, deadline },
        ...remembered(generation, ledger),
        ranking,
        readConfirmed: readConfirmedAt(ledger),
        verifiesSignatures,
      });
      return limitToQuota(source);
    };
  return {
    sourceFor: within(createFetchQuota(Date.now, PROPOSAL_QUOTA_BLOCKS), true),
    readSourceFor: within(createFetchQuota(Date.now, READ_QUOTA_BLOCKS, READS_AT_ONCE), false),
    unknownBlocks: createBlockIds(Date.now, MAX_UNKNOWN_IDS, UNKNOWN_MS),
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
 * A block that is not stored, from the upstreams and kept in memory only, as for a request about
 * the next milestone: a node that follows this one asks for it then. Undefined where nothing may be
 * fetched, no upstream knows the block, or an earlier milestone references it.
 */
async function fetchUnreferencedBlock(
  db: Database,
  { settings, readSourceFor, unknownBlocks }: Shared,
  blockId: string,
): Promise<StoredBlock | undefined> {
  if (!mayFetch(settings) || unknownBlocks.has(blockId)) return undefined;
  const head = await readHead(db);
  if (head === undefined) return undefined;
  try {
    const source = readSourceFor(head, Date.now() + READ_MS);
    const [block] = await source.fetch([blockId]);
    // only then: most blocks that are asked for and not stored exist nowhere
    await source.requireUnreferenced([blockId]);
    const { bytes } = block!;
    return { blockId, bytes, isSolid: false, referenced: undefined, ledgerIndex: head.ledger };
  } catch (error) {
    if (!(error instanceof ConeUnavailable)) throw error;
    unknownBlocks.add(blockId);
    return undefined;
  }
}

/** Without keys nothing that is fetched could be told to be a milestone. */
function mayFetch({ upstreams, milestoneKeys }: Settings): boolean {
  return upstreams.length > 0 && milestoneKeys !== undefined;
}

/**
 * A coordinator asks about the next milestone as soon as it has issued one. The replica asked, or
 * the ledger itself, may not have that one yet. Then the follower is told to look now, and the
 * request is retried. The request itself stores nothing.
 */
async function answerOnceCaughtUp<Answer extends { ok: true }>(
  db: Database,
  shared: Shared,
  request: WhiteFlagRequest,
  compute: Compute<Answer>,
): Promise<Answer | WhiteFlagRefusal> {
  const { settings } = shared;
  const deadline = Date.now() + REQUEST_MS;
  const result = await answerFromLedger(db, shared, request, { compute, deadline });
  if (result.ok || result.ahead === undefined || result.ahead > MAX_MILESTONES_AHEAD) return result;
  if (settings.upstreams.length > 0) await catchUp(settings);
  const primary = settings.ledger.withSession('first-primary');
  return answerFromLedger(primary, shared, request, { compute, deadline });
}

async function catchUp(settings: Settings): Promise<void> {
  const pass = followerOf(settings.follower)
    .catchUp()
    .catch((error: unknown) =>
      writeLog('warn', 'node.not-caught-up', { error: describeError(error) }),
    );
  await Promise.race([pass, new Promise((resolve) => setTimeout(resolve, CATCH_UP_MS))]);
}

/**
 * Blocks that came in since the last pack are with the follower, which stores them. Undefined where
 * it has no feed, or takes too long: then they are fetched.
 */
async function storePushedBlocks(
  { follower, ledger }: Settings,
  parents: readonly string[],
): Promise<Database | undefined> {
  const storing = followerOf(follower)
    .storePushed(parents)
    .catch((error: unknown) => {
      writeLog('warn', 'follower.pushed-not-stored', { error: describeError(error) });
      return false;
    });
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), STORE_PUSHED_MS));
  return (await Promise.race([storing, late])) ? ledger.withSession('first-primary') : undefined;
}

async function answerFromLedger<Answer extends { ok: true }>(
  db: Database,
  { settings, sourceFor }: Shared,
  request: WhiteFlagRequest,
  { compute, deadline }: { compute: Compute<Answer>; deadline: number },
): Promise<Answer | WhiteFlagRefusal> {
  const { milestoneKeys: keys } = settings;
  const openSource = mayFetch(settings) ? (head: Head) => sourceFor(head, deadline) : undefined;
  const storePushed = mayFetch(settings)
    ? (parents: readonly string[]) => storePushedBlocks(settings, parents)
    : undefined;
  try {
    return await compute(db, request, { keys, openSource, storePushed });
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    writeLog('warn', 'upstream.failed', { detail: describeError(error) });
    return {
      ok: false,
      reason: 'failed',
      detail: 'an upstream node does not answer as it should',
    };
  }
}
