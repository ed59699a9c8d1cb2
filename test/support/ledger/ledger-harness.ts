/**
 * A ledger in D1 that begins with a snapshot of a test network and follows it, and questions put to
 * it; all in one process, without HTTP.
 */

import { bring } from '../../../src/follower/bring/bring-blocks.ts';
import { completeMilestone } from '../../../src/follower/complete-milestone.ts';
import {
  createFollowerMemory,
  type FollowerContext,
  type FollowerMemory,
} from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { followOnce } from '../../../src/follower/pass.ts';
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
import { toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { createConeFetcher } from '../../../src/upstream/fetch-blocks.ts';
import type { Upstream } from '../../../src/upstream/upstream.ts';
import { verifySignature } from '../../../src/verify-signature.ts';
import { NodeState } from '../hornet-double/node-state.ts';
import { readMilestone } from '../network/blocks.ts';
import { directUpstream } from '../network/direct-upstream.ts';
import { milestoneAt, type Network, ZERO_ID } from '../network/network-model.ts';
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
    await followOnce(rig.following, { deadline: Date.now() + 20_000, milestones: 12 });
    const now = await ledgerIndex(rig.db);
    if (now === ledger)
      throw new Error(`the ledger stays at ${now} and does not follow to ${index}`);
    ledger = now;
  }
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
  const fetch = createConeFetcher({ pool, upstream, budget, deadline: Date.now() + 10_000 });
  const deadline = Number.POSITIVE_INFINITY;
  const tools = { memory, rules, fetch, deadline };
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
  );
  return stored;
}

/**
 * The database with something happening before each batch, by its statements and its number:
 * somebody else at work, or the end.
 */
export function disturbed(
  db: Database,
  before: (sql: string, batch: number) => Promise<void>,
): Database {
  let batches = 0;
  return {
    prepare: (sql) => db.prepare(sql),
    async batch(statements) {
      await before(statementTexts(statements).join(';'), ++batches);
      return db.batch(statements);
    },
  };
}

/** By a property that D1's own class has, though its type does not say so. */
export function statementTexts(statements: readonly D1PreparedStatement[]): string[] {
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

/** By the function that the route calls. */
function askInFull(
  rig: Rig,
  question: Question,
  { db = rig.db, upstreams, maxBlocks, memory = rig.following.memory }: AskOptions = {},
): Promise<WhiteFlagResult> {
  const request = {
    index: question.index,
    timestamp: question.timestamp,
    parents: question.parents.map((id) => id.slice(2).toLowerCase()),
    previousMilestoneId: (question.previousMilestoneId || ZERO_ID).slice(2).toLowerCase(),
  };
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
  if (!result.ok) return REFUSAL_STATUSES[result.reason];
  return {
    inclusionMerkleRoot: `0x${toHexDigits(result.inclusionMerkleRoot)}`,
    appliedMerkleRoot: `0x${toHexDigits(result.appliedMerkleRoot)}`,
  };
}

/** What a coordinator asked before it issued this milestone, and the answer that it signed. */
export function questionOf(
  network: Network,
  index: number,
): { question: Question; answer: Answer } {
  const value = readMilestone(milestoneAt(network, index)!.payload);
  return {
    question: {
      index,
      timestamp: value.timestamp,
      parents: value.parents.map((id) => `0x${toHexDigits(id)}`),
      previousMilestoneId: `0x${toHexDigits(value.previousMilestoneId)}`,
    },
    answer: {
      inclusionMerkleRoot: `0x${toHexDigits(value.inclusionMerkleRoot)}`,
      appliedMerkleRoot: `0x${toHexDigits(value.appliedMerkleRoot)}`,
    },
  };
}
