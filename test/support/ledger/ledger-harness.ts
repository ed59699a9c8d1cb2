/**
 * A ledger in D1 that begins with a snapshot of a test network and follows it, and questions put to
 * it; all in one process, without HTTP.
 */

import type { PassBudget } from '../../../src/follower/apply-next.ts';
import { bring } from '../../../src/follower/bring/bring-blocks.ts';
import { completeMilestone } from '../../../src/follower/complete-milestone.ts';
import {
  createFollowerMemory,
  type FollowerContext,
  type FollowerMemory,
} from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { followOnce, type PassResult } from '../../../src/follower/pass.ts';
import { storeTips } from '../../../src/follower/store/store-tips.ts';
import { verifyMilestone } from '../../../src/follower/verify-milestone.ts';
import { REFUSAL_STATUSES } from '../../../src/http/routes/core/white-flag.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { ConeUnavailable } from '../../../src/ledger/intake/block-source.ts';
import type { StatusSettings } from '../../../src/ledger/read/node-status.ts';
import type { UnreferencedIndex } from '../../../src/ledger/write/unreferenced-index.ts';
import {
  computeWhiteFlag,
  type WhiteFlagOptions,
  type WhiteFlagResult,
} from '../../../src/node/compute-white-flag.ts';
import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { createConeFetcher } from '../../../src/upstream/fetch-blocks.ts';
import type { Upstream } from '../../../src/upstream/upstream.ts';
import { NodeState } from '../hornet-double/node-state.ts';
import { readMilestone } from '../network/blocks.ts';
import { directUpstream } from '../network/direct-upstream.ts';
import {
  milestoneAt,
  type Network,
  type WhiteFlagCase,
  ZERO_ID,
} from '../network/network-model.ts';
import { fullSnapshot } from '../network/network-snapshot.ts';
import { SyntheticNetwork, type SyntheticOptions } from '../network/synthetic-network.ts';

/** IDs are `0x…`, as in vectors and test networks. */
export interface Question {
  index: number;
  timestamp: number;
  parents: readonly string[];
  previousMilestoneId?: string | null;
}

/** An answer as tests compare it: the roots, or the status of the refusal. */
export type Answer = { inclusionMerkleRoot: string; appliedMerkleRoot: string } | number;

export interface Rig {
  db: Database;
  network: Network;
  /** The upstream's node, which tests move on. */
  node: NodeState;
  upstream: Upstream;
  following: FollowerContext;
}

/** Everything is kept, unless told otherwise. */
const NO_PRUNING = 1_000_000;

export interface RigOptions {
  retention?: number;
  /** The network as it was when the snapshot was made. */
  snapshotOf?: Network;
}

/** Settings of a node that follows, for its status. */
export const FOLLOWING: StatusSettings = {
  follows: true,
  finalMilestone: undefined,
  retention: 17_280,
  limitBytes: undefined,
};

/** Replaces whatever ledger the database had. */
export async function startLedger(
  db: Database,
  network: Network,
  index: number,
  { retention = NO_PRUNING, snapshotOf = network }: RigOptions = {},
): Promise<Rig> {
  await loadSnapshot(db, asFile(fullSnapshot(snapshotOf, { target: index })), undefined);
  const node = new NodeState(network, index);
  const upstream = directUpstream(node);
  const following: FollowerContext = {
    db,
    upstreams: [upstream],
    keys: network.keys,
    verify: verifySignature,
    memory: createFollowerMemory(),
    publish: async () => {},
    retention,
  };
  return { db, network, node, upstream, following };
}

export function asFile(chunks: Iterable<Uint8Array>): {
  chunks: AsyncIterable<Uint8Array>;
  size: number;
} {
  const parts = [...chunks];
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  return {
    chunks: (async function* () {
      yield* parts;
    })(),
    size,
  };
}

/** Passes until the ledger is where the upstream is; fails when a pass gets nowhere. */
export async function followTo(rig: Rig, index: number): Promise<void> {
  rig.node.confirm(index);
  for (let ledger = await ledgerIndex(rig.db); ledger < index; ) {
    await passOnce(rig);
    const now = await ledgerIndex(rig.db);
    if (now === ledger)
      throw new Error(`the ledger stays at ${now} and does not follow to ${index}`);
    ledger = now;
  }
}

/** One pass of the follower, with time and work enough where nothing else is said. */
export function passOnce(
  { following }: Pick<Rig, 'following'>,
  more: Partial<PassBudget> = {},
): Promise<PassResult> {
  return followOnce(following, { deadline: Date.now() + 20_000, milestones: 12, ...more });
}

/** Issues the next milestone over these parents, or over some tips, and takes it in. */
export async function issue(
  rig: Rig,
  network: SyntheticNetwork,
  parents?: readonly string[],
): Promise<void> {
  network.milestone(parents === undefined ? {} : { parents });
  await takeNext(rig, rig.db);
}

/** A milestone that references next to nothing. */
export async function issueQuiet(rig: Rig, network: SyntheticNetwork): Promise<void> {
  network.quietMilestone();
  await takeNext(rig, rig.db);
}

/** A made-up network after its first milestone, which the ledger has applied. */
export async function startNew(
  db: Database,
  seed: string,
  options: SyntheticOptions = {},
): Promise<{ network: SyntheticNetwork; rig: Rig; root: string }> {
  const network = new SyntheticNetwork({ ...options, seed });
  network.milestone();
  const rig = await startLedger(db, network, network.genesis.index);
  await takeNext(rig, db);
  return { network, rig, root: network.milestoneBlock! };
}

/** The rig, with these as the tips of its upstream. */
export function withTips(rig: Rig, ...tips: readonly string[]): Rig {
  const readTips = async () => tips.map((id) => id.slice(2));
  return { ...rig, upstream: { ...rig.upstream, readTips } };
}

/** The rig, with whatever is stored at once stored in packs of its own. */
export function withSplitPacks(rig: Rig): Rig {
  const { memory } = rig.following;
  const index: UnreferencedIndex = {
    ...memory.index,
    view: async (...args) => ({
      ...(await memory.index.view(...args)),
      last: { visible: undefined, staged: undefined },
    }),
  };
  return { ...rig, following: { ...rig.following, memory: { ...memory, index } } };
}

/** Takes the next milestone in and does nothing else, neither stores tips nor prunes. */
export async function takeNext({ network, node, upstream }: Rig, db: Database): Promise<void> {
  const judges = { keys: network.keys, verify: verifySignature };
  const { head, milestone, announced, rules } = await readPosition(db, judges);
  const index = head.ledger + 1;
  node.confirm(index);
  const { payload } = milestoneAt(network, index)!;
  const verified = await verifyMilestone(payload, { head, milestone, announced }, rules);
  const memory = createFollowerMemory();
  const { pool } = memory;
  const budget = { fetchesLeft: 2000 };
  const waitUntil = Date.now() + 10_000;
  const fetch = createConeFetcher({ pool, upstream, budget, deadline: waitUntil });
  const deadline = Number.POSITIVE_INFINITY;
  const tools = { memory, rules, fetch, budget, deadline, waitUntil };
  for (;;) {
    try {
      await completeMilestone(db, head, verified, tools);
      return;
    } catch (error) {
      // as the next pass does
      if (!(error instanceof ConeUnavailable) || error.fault !== 'over-budget') throw error;
    }
  }
}

/**
 * Stores the upstream's tips, and what lies below them, as the follower does between milestones.
 */
export async function storeNow(
  { upstream, following }: Rig,
  db: Database,
  others: readonly Upstream[] = [],
): Promise<number> {
  const position = await readPosition(db, following);
  const { stored } = await storeTips(
    { db, upstreams: [upstream, ...others], memory: following.memory },
    position,
    0,
  );
  return stored;
}

/**
 * The database with something happening before each batch, or after it, by its statements and its
 * number: somebody else at work, or the end.
 */
export function disturbed(
  db: Database,
  before: (sql: string, batch: number, statements: number) => Promise<void>,
  after: (
    sql: string,
    batch: number,
    results: readonly D1Result[],
  ) => Promise<void> = async () => {},
): Database {
  let batches = 0;
  return {
    prepare: (sql) => db.prepare(sql),
    async batch<T>(statements: D1PreparedStatement[]) {
      const batch = ++batches;
      const sql = statementTexts(statements).join(';');
      await before(sql, batch, statements.length);
      const results = await db.batch<T>(statements);
      await after(sql, batch, results);
      return results;
    },
  };
}

/** The database, in which whoever writes a verdict later is killed before. */
export function withoutVerdicts(db: Database, error = 'killed'): Database {
  return disturbed(db, async (sql) => {
    if (/UPDATE pack SET records/.test(sql)) throw new Error(error);
  });
}

/** What the follower says of itself. */
export async function followerState(db: Database): Promise<{ state: string; reason: unknown }> {
  const row = db.prepare('SELECT state, reason FROM follower');
  return (await row.first<{ state: string; reason: string | null }>())!;
}

/** By a property that D1's own class has, though its type does not say so. */
function statementTexts(statements: readonly D1PreparedStatement[]): string[] {
  return (statements as unknown as { statement: string }[]).map(({ statement }) => statement);
}

export async function ledgerIndex(db: Database): Promise<number> {
  return Number(await db.prepare('SELECT ledger FROM head').first('ledger'));
}

export interface AskOptions {
  /** Instead of the rig's database. */
  db?: Database;
  /** From which the rig's follower brings blocks that D1 lacks. Default: none is brought. */
  upstreams?: readonly Upstream[];
  maxBlocks?: number;
  /** Instead of the rig's follower's. */
  memory?: FollowerMemory;
}

/** The question as the product takes it. */
export function requestOf({ index, timestamp, parents, previousMilestoneId }: Question) {
  const digits = (id: string) => id.slice(2).toLowerCase();
  return {
    index,
    timestamp,
    parents: parents.map(digits),
    previousMilestoneId: digits(previousMilestoneId || ZERO_ID),
  };
}

/** By the function that the route calls. */
function askInFull(
  rig: Rig,
  question: Question,
  { db = rig.db, upstreams, maxBlocks, memory = rig.following.memory }: AskOptions = {},
): Promise<WhiteFlagResult> {
  const request = requestOf(question);
  const following = { ...rig.following, db, memory, upstreams: upstreams ?? [] };
  return computeWhiteFlag(db, request, {
    rules: { keys: rig.network.keys, verify: verifySignature },
    bring: async (wanted) =>
      upstreams === undefined && wanted.blocks.length > 0
        ? { db, notBrought: undefined }
        : bringFrom(following, maxBlocks)(wanted),
  });
}

/** As the follower's object does for a request. */
export function bringFrom(
  following: FollowerContext,
  maxBlocks?: number,
): NonNullable<WhiteFlagOptions['bring']> {
  const { db } = following;
  return async (wanted) => ({ db, notBrought: await bring(following, wanted, maxBlocks) });
}

export async function ask(rig: Rig, question: Question, options: AskOptions = {}): Promise<Answer> {
  const result = await askInFull(rig, question, options);
  return result.ok ? rootsOf(result) : REFUSAL_STATUSES[result.reason];
}

/** As vectors have them. */
export function rootsOf(
  given: Record<'inclusionMerkleRoot' | 'appliedMerkleRoot', Uint8Array>,
): WhiteFlagCase['response'] {
  return {
    inclusionMerkleRoot: toHex(given.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(given.appliedMerkleRoot),
  };
}

/** What a coordinator asked before it issued this milestone, and the answer that it signed. */
export function questionOf(
  network: Network,
  index: number,
): { question: WhiteFlagCase['request']; answer: WhiteFlagCase['response'] } {
  const value = readMilestone(milestoneAt(network, index)!.payload);
  return {
    question: {
      index,
      timestamp: value.timestamp,
      parents: value.parents.map(toHex),
      previousMilestoneId: toHex(value.previousMilestoneId),
    },
    answer: rootsOf(value),
  };
}
