/**
 * The node under test, as the weather drives it: one ledger in memory, followers over it, and an
 * isolate that answers white-flag questions. The weather uses the product's follower and queries
 * through this file only.
 */

import { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { applyPushed } from '../../../src/follower/apply-next.ts';
import { bring } from '../../../src/follower/bring/bring-blocks.ts';
import {
  createFollowerMemory,
  type FollowerContext,
  type FollowerMemory,
  takeMessage,
} from '../../../src/follower/follower-context.ts';
import { followOnce } from '../../../src/follower/pass.ts';
import { storePushed } from '../../../src/follower/pushed/store-pushed.ts';
import { REFUSAL_STATUSES } from '../../../src/http/routes/core/white-flag.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import type { NotBrought, WantedOfFollower } from '../../../src/ledger/intake/block-source.ts';
import { BLOCKS, CONFIRMED_MILESTONE, MILESTONES } from '../../../src/mqtt/topics.ts';
import { computeWhiteFlag, type WhiteFlagOptions } from '../../../src/node/compute-white-flag.ts';
import type { MilestoneKeys, VerifySignature } from '../../../src/stardust/milestone-keys.ts';
import { type Upstream, UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { asFile, requestOf, rootsOf } from '../ledger/ledger-harness.ts';
import { openMemory } from '../ledger/memory-database.ts';
import { sealRows } from '../ledger/seal-rows.ts';
import type { Network, WhiteFlagCase } from '../network/network-model.ts';
import { fullSnapshot } from '../network/network-snapshot.ts';
import { verifySignature } from '../payloads/keys.ts';
import type { Roots } from './truth.ts';

export { BLOCKS, CONFIRMED_MILESTONE, type Database, MILESTONES, type Upstream, UpstreamFailure };

/** Milliseconds that a pass or a question has; the weather's clock stands still meanwhile. */
const PATIENCE_MS = 20_000;

const PASS_MILESTONES = 12;
const CATCH_UP_MILESTONES = 3;

/** The next free numbers of blocks and outputs. */
export interface Counters {
  block?: number;
  output?: number;
}

const images = new Map<string, Uint8Array>();

/**
 * A new database with the network's state at milestone `index`.
 *
 * @param name of the network as it is now: what was imported once is copied from then on
 */
export async function openLedger(
  network: Network,
  { name, index }: { name: string; index: number },
  { block, output }: Counters,
): Promise<Database> {
  let image = images.get(name);
  if (image === undefined) {
    const imported = await openMemory();
    await loadSnapshot(imported, asFile(fullSnapshot(network, { target: index })), undefined);
    image = imported.serialize();
    images.set(name, image);
  }
  const db = new SqliteDatabase(':memory:');
  db.deserialize(image);
  await db
    .prepare(
      'UPDATE head SET next_block = coalesce(?1, next_block), next_output = coalesce(?2, next_output)',
    )
    .bind(block ?? null, output ?? null)
    .run();
  await sealRows(db, 'head');
  return db;
}

/**
 * Replaces the ledger by the network's state at milestone `target`, while others use it.
 *
 * @param stoodOn blocks that those to come may stand on
 */
export async function importLedger(
  db: Database,
  network: Network,
  { target, stoodOn }: { target: number; stoodOn: readonly string[] },
): Promise<void> {
  await loadSnapshot(db, asFile(fullSnapshot(network, { target, stoodOn })), undefined);
}

/** As if a milestone had been applied wrongly. */
export async function loseOutput(db: Database): Promise<void> {
  await db.prepare('DELETE FROM output WHERE id = (SELECT min(id) FROM output)').run();
}

/** Whether the error is one that the product's parts tell each other of, and no mistake. */
export function isKnownError(error: unknown): boolean {
  return error instanceof UpstreamFailure || error instanceof LedgerMoved;
}

const verify: VerifySignature = async (...args) => verifySignature(...args);

/**
 * In place of WebCrypto's, whose threads end when they like; call what is returned to have that back.
 */
export function verifyAtOnce(): () => void {
  const { subtle } = crypto;
  Object.assign(subtle, {
    importKey: async (_format: string, publicKey: Uint8Array) => publicKey,
    verify: async (_name: string, key: Uint8Array, signature: Uint8Array, message: Uint8Array) =>
      verify(key, message, signature),
  });
  return () => {
    for (const name of ['importKey', 'verify']) Reflect.deleteProperty(subtle, name);
  };
}

export interface FollowerOptions {
  db: Database;
  keys: MilestoneKeys;
  upstreams: readonly Upstream[];
  /** Heap for blocks that are not stored yet; a past cone that takes more is stored in parts. */
  maxPoolHeapBytes?: number | undefined;
  /** Milestones that are kept. */
  retention: number;
}

/** A follower's Durable Object without its alarm: whoever has it says when something is due. */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #memory: FollowerMemory;
  /** Whether a feed is live. */
  fed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#memory = createFollowerMemory(options.maxPoolHeapBytes);
  }

  /** One pass. `milestonesOnly`: as for a request that cannot wait. */
  async pass(milestonesOnly = false): Promise<void> {
    const milestones = milestonesOnly ? CATCH_UP_MILESTONES : PASS_MILESTONES;
    const deadline = Date.now() + PATIENCE_MS;
    await followOnce(this.#context(), { deadline, milestones, milestonesOnly });
  }

  /** A message of the feed. */
  push(topic: string, payload: Uint8Array): void {
    takeMessage(this.#memory, topic, payload);
  }

  /** Stores what was pushed. */
  async store(): Promise<void> {
    await storePushed(this.#context());
  }

  /** Applies what was pushed, and fetches the rest where the upstream has the milestone whole. */
  async takeMilestones(): Promise<void> {
    await applyPushed(this.#context());
    const { milestones, lastLedger } = this.#memory;
    if (lastLedger !== undefined && milestones.confirmed === lastLedger.ledger + 1)
      await this.pass(true);
  }

  /**
   * Has blocks stored, for a request.
   *
   * @param upstreams where blocks may be fetched
   */
  bring(wanted: WantedOfFollower, upstreams: readonly Upstream[]): Promise<NotBrought | undefined> {
    return bring({ ...this.#context(), upstreams }, wanted);
  }

  #context(): FollowerContext {
    const { db, keys, upstreams, retention } = this.#options;
    return {
      db,
      keys,
      upstreams,
      verify,
      memory: this.#memory,
      isFed: () => this.fed,
      publish: async () => {},
      retention,
    };
  }
}

/** Roots, or the status of a refusal with what it says. */
export type Answer = Roots | { status: number; detail: string };

/**
 * What a request is answered.
 *
 * @param bring has blocks stored that D1 lacks; undefined where nothing is followed
 */
export async function answerOf(
  db: Database,
  request: WhiteFlagCase['request'],
  keys: MilestoneKeys,
  bring: WhiteFlagOptions['bring'],
): Promise<Answer> {
  const result = await computeWhiteFlag(db, requestOf(request), { rules: { keys, verify }, bring });
  if (result.ok) return rootsOf(result);
  return { status: REFUSAL_STATUSES[result.reason], detail: result.detail };
}
