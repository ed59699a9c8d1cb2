/**
 * Stores the blocks that a request needs and D1 lacks, from the pool or fetched, with their past
 * cones; and makes the verdicts that it needs. The request then reads D1 again. Requests are served
 * within limits; equal wishes share their work.
 */
import { onceMore } from '../../ledger/core/fence.ts';
import {
  ConeUnavailable,
  type NotBrought,
  type WantedOfFollower,
} from '../../ledger/intake/block-source.ts';
import { resolveBlocks } from '../../ledger/write/resolve-verdicts.ts';
import { pause } from '../../platform/clock.ts';
import type { Settings } from '../../settings.ts';
import { fetchBlock, fetchIntoPool } from '../../upstream/fetch-blocks.ts';
import { createReferenceReader, untilLate } from '../../upstream/read-references.ts';
import type { Patience } from '../../upstream/rest-upstream.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { type FollowerContext, noteLedger } from '../follower-context.ts';
import { type LedgerPosition, readPosition } from '../ledger-position.ts';
import { type GatherContext, requireUnreferenced, startWalk } from '../store/gather-blocks.ts';
import { storeBelow } from '../store/store-gathered.ts';
import { createFairLimit, type Whose } from './fair-limit.ts';

/** Blocks fetched for one request. */
const MAX_FETCHED = 2000;
/** Levels of blocks without a query: a request has no time to go deeper. */
const MAX_LEVELS = 16;
/** Milliseconds in which the blocks of one request are fetched, or verdicts are made for it. */
export const FETCH_MS = 1400;

const NOT_ADMITTED = 'a block of the cone is not one that a node admits';

/** Milliseconds for which a block may still come by the feed; the pool is read after each. */
const FEED_PAUSES_MS = [20, 60];

export type BringContext = Pick<
  FollowerContext,
  'db' | 'upstreams' | 'keys' | 'verify' | 'memory' | 'isFed'
> &
  /** The voters are the upstreams, with patience of {@link FETCH_MS}: a slow one has not failed. */
  Pick<GatherContext, 'urgency' | 'voters'>;

/** Steps in which verdicts are made for one request: 12 statements, of an invocation's 1,000. */
const RESOLVING_STEPS = 64;

/** Writes what a request needs: blocks, else verdicts. */
export async function bring(
  context: BringContext,
  { blocks, undecided }: WantedOfFollower,
  maxFetched = MAX_FETCHED,
): Promise<NotBrought | undefined> {
  return blocks.length > 0
    ? solidify(context, blocks, maxFetched)
    : resolveWanted(context, undecided);
}

/** Makes verdicts on these transactions. Where there is time left, a further round makes others. */
async function resolveWanted(
  context: BringContext,
  undecided: WantedOfFollower['undecided'],
): Promise<NotBrought | undefined> {
  const { db, verify, memory } = context;
  const deadline = Date.now() + FETCH_MS;
  const { head } = await readPosition(db, context);
  const tools = { index: memory.index, head, verify };
  let left = RESOLVING_STEPS;
  const mayTake = () => left-- > 0 && Date.now() < deadline;
  const takeStep = <T>(work: () => Promise<T>) => memory.step('resolve', work);
  await resolveBlocks(db, tools, undecided, takeStep, mayTake);
  return Date.now() >= deadline
    ? { fault: 'over-budget', detail: 'verdicts are still made' }
    : undefined;
}

/**
 * Stores these blocks with their past cones, as far as they are unreferenced for certain. Returns
 * undefined if that was done or need not be; else why it was not, if a reason is known. Throws a
 * LedgerMoved if another follower was first, and what the database throws.
 *
 * @param ids hex IDs of one to eight blocks
 */
async function solidify(
  context: BringContext,
  ids: readonly string[],
  maxFetched: number,
): Promise<NotBrought | undefined> {
  const { upstreams, memory, isFed } = context;
  const deadline = Date.now() + FETCH_MS;
  const { position, missing } = await findMissing(context, ids);
  if (missing.length === 0) return undefined;
  const { pool, upstreams: known } = memory;
  for (const ms of isFed?.() ? FEED_PAUSES_MS : []) {
    if (missing.every((id) => pool.get(id) !== undefined)) break;
    await pause(ms);
  }
  const [first, ...others] = missing.filter((id) => pool.get(id) === undefined);
  // whoever names blocks that exist nowhere costs one request, not one for each
  if (first && others.length > 0) await fetchIntoPool(pool, upstreams, first, known.ranking);
  const tools = { ...context, ranking: known.ranking };
  const limits = { budget: { fetchesLeft: maxFetched }, maxLevels: MAX_LEVELS, deadline };
  const { fault, refused, isLate } = await storeBelow(tools, position, missing, limits);
  if (refused > 0) return { fault: 'unknown-block', detail: NOT_ADMITTED };
  const notBrought: NotBrought | undefined = fault && {
    fault: fault instanceof ConeUnavailable ? fault.fault : 'upstream-failed',
    detail: fault.message,
  };
  // what was not looked for any more is not unknown
  return isLate && (notBrought?.fault ?? 'over-budget') === 'over-budget'
    ? { fault: 'upstream-failed', detail: 'the cone did not arrive in time' }
    : notBrought;
}

async function findMissing(
  context: BringContext,
  ids: readonly string[],
): Promise<{ position: LedgerPosition; missing: string[] }> {
  const { db, memory } = context;
  const position = await readPosition(db, context);
  noteLedger(memory, position);
  const { named } = await memory.index.view(db, position.head, ids);
  return { position, missing: ids.filter((id) => !named.has(id)) };
}

/** A block that is not stored, and where the ledger was when no milestone referenced it. */
export interface UnstoredBlock {
  bytes: Uint8Array;
  ledgerIndex: number;
}

/**
 * Returns a block that is not stored, from the pool or fetched; nothing is written. Throws a
 * ConeUnavailable if none has it or an earlier milestone references it, else UpstreamFailure.
 */
async function readUnstored(
  { db, upstreams, voters = upstreams, keys, verify, memory }: BringContext,
  id: string,
): Promise<UnstoredBlock> {
  const { head } = await readPosition(db, { keys, verify });
  const { ranking } = memory.upstreams;
  const deadline = Date.now() + FETCH_MS;
  const block = memory.pool.get(id) ?? (await fetchBlock(upstreams, id, ranking));
  const said = startWalk(memory, head);
  // only then: most blocks that are asked for and not stored exist nowhere
  if (!said.unreferenced.has(id)) {
    const readReference = createReferenceReader({ upstreams: voters, index: head.ledger + 1 });
    await untilLate(requireUnreferenced(id, said, readReference), deadline);
  }
  // not into the pool: strangers who read blocks would evict those that were pushed
  return { bytes: block.bytes, ledgerIndex: head.ledger };
}

/**
 * Limits of work under way at once, and of what waits: no longer than the request itself. Where more
 * is begun than has connections, all of it is late.
 */
const BRING_LIMITS = { ofKnown: 3, ofStrangers: 2, waiting: 64, maxWaitMs: 1500 };

/** Limits of single blocks, which upstreams are asked for as for strangers: no coordinator waits. */
const READ_LIMITS = { ofKnown: 1, ofStrangers: 2, waiting: 64, maxWaitMs: 500 };

export interface Bringer {
  /**
   * Writes what a request needs (bring-blocks.ts).
   *
   * @param client who is charged for the work
   */
  bring(wanted: WantedOfFollower, client: string): Promise<NotBrought | undefined>;
  /** Returns a block that is not stored, if it exists and is unreferenced. */
  readUnstored(id: string, client: string): Promise<UnstoredBlock | undefined>;
}

/** @param open makes the context of one piece of work; its upstreams have {@link patienceOf} */
export function createBringer(open: (whose: Whose) => BringContext): Bringer {
  const refuse = () => new UpstreamFailure('too many requests wait for blocks');
  const limit = createFairLimit<NotBrought | undefined>(
    { ...BRING_LIMITS, refuse },
    (notBrought) => notBrought === undefined,
  );
  const readLimit = createFairLimit<UnstoredBlock | undefined>(
    { ...READ_LIMITS, refuse },
    (found) => found !== undefined,
  );
  const underWay = new Map<string, Promise<NotBrought | undefined>>();

  /** Equal wishes share their work, from the first client's turn on. */
  function share(wanted: WantedOfFollower, whose: Whose): Promise<NotBrought | undefined> {
    const name = JSON.stringify([wanted, whose]);
    const begin = () => onceMore(async () => bring({ ...open(whose), urgency: whose }, wanted));
    const bringing = underWay.get(name) ?? begin().finally(() => underWay.delete(name));
    underWay.set(name, bringing);
    return bringing;
  }

  return {
    async bring(wanted, client) {
      try {
        return await limit(client, (whose) => share(wanted, whose));
      } catch (error) {
        if (error instanceof ConeUnavailable) return { fault: error.fault, detail: error.message };
        if (!(error instanceof UpstreamFailure)) throw error;
        return { fault: 'upstream-failed', detail: error.message };
      }
    },
    async readUnstored(id, client) {
      try {
        return await readLimit(client, () => readUnstored(open('stranger'), id));
      } catch (error) {
        if (error instanceof ConeUnavailable) return undefined;
        throw error;
      }
    },
  };
}

/** All upstreams but the last may hang, and there is still time to query that one. */
export function patienceOf({ upstreams }: Settings, urgency: Whose): Patience {
  const parts = upstreams.length === 1 ? 1 : upstreams.length + 1;
  return { timeout: Math.floor(FETCH_MS / parts), attempts: 1, urgency };
}
