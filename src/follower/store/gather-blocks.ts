/**
 * Walks from some blocks down to what D1 knows, and fetches what is not in the pool. Pushed blocks,
 * tips and the parents of a proposal are the tops of the same walk. A block that an upstream calls
 * referenced ends it: its descendants cannot be stored (docs/architecture.md#the-trap).
 */
import type { Head } from '../../ledger/core/head.ts';
import { ConeUnavailable } from '../../ledger/intake/block-source.ts';
import { createConeSkeleton, walkDown } from '../../ledger/intake/cone-skeleton.ts';
import { lookUpBlocks } from '../../ledger/write/unreferenced-index.ts';
import { within } from '../../platform/clock.ts';
import { startWorkers, type Urgency } from '../../platform/concurrency.ts';
import { type AdmissionRules, isAdmittedUnasked } from '../../stardust/admission.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import type { Ranking } from '../../upstream/ask-in-turn.ts';
import { heapOf } from '../../upstream/block-pool.ts';
import { fetchIntoPool } from '../../upstream/fetch-blocks.ts';
import {
  createReferenceReader,
  type ReadReference,
  untilLate,
} from '../../upstream/read-references.ts';
import { connectionsToEach } from '../../upstream/rest-upstream.ts';
import { type Upstream, UpstreamFailure } from '../../upstream/upstream.ts';
import { type FollowerContext, heapForBlocks, type SaidOfBlocks } from '../follower-context.ts';

/** Queries about blocks in one walk, and those at once. */
const MAX_QUERIED = 300;
const QUERIED_AT_ONCE = 30;

/**
 * Heap of the blocks that all walks hold, fetched or from the pool, which has less then, and of one
 * where that is used up: 300 of the largest transactions take 98 MB.
 */
const MAX_FETCHED_HEAP_BYTES = 24_000_000;
const MIN_FETCHED_HEAP_BYTES = 2_000_000;
const FETCHED_AT_ONCE = 64;

export type GatherContext = Pick<FollowerContext, 'db' | 'upstreams' | 'memory'> & {
  /**
   * Upstreams to be queried about references: any "yes" wins, and all are waited for up to the
   * deadline. So a liar is believed only if no honest one is up; what is stored on its word stays.
   */
  voters?: readonly Upstream[] | undefined;
  /** Order of upstreams to fetch from; by default that of the list. */
  ranking?: Ranking | undefined;
  urgency?: Urgency;
};

export interface GatherLimits {
  /** Blocks that may be fetched; those in the pool do not count. It is counted down. */
  budget: { fetchesLeft: number };
  /**
   * Levels of blocks in a row without a query. A walk that has come below the import meets nothing
   * that is known, and only an upstream can tell that it has.
   */
  maxLevels: number;
  /** Unix milliseconds after which nothing more is fetched or queried. */
  deadline: number;
  /** Hex IDs that nobody requested; absent: the tops. C-6 exempts what is below an admitted block. */
  unasked?: readonly string[];
  /** The upstream that named the tops, and so has what is below. Absent: all upstreams are asked. */
  namedBy?: Upstream;
}

export interface GatheredBlocks {
  /** Blocks by hex ID, parents first. Those from the pool may be known to D1. */
  blocks: Map<string, ParsedBlock>;
  /** First reason why a block below the tops is not among them. */
  fault: GatherFault | undefined;
  /** Hex IDs of the blocks at which the limits cut off the walk. */
  cut: string[];
  /** Number of tops that a node does not store unless they are requested. */
  refused: number;
  /** Whether an upstream was late with blocks, or had too many requests for them. */
  isBusy: boolean;
  /** Whether `namedBy` is late, or gave none; not where it fails or lacks one now and then. */
  isWithheld: boolean;
}

export type GatherFault = ConeUnavailable | UpstreamFailure;

export interface Moment {
  head: Pick<Head, 'generation' | 'ledger'>;
  rules: AdmissionRules;
}

/** Words of upstreams about blocks, as one walk may take them. */
export interface SaidInWalk extends SaidOfBlocks {
  /** Unreferenced by the word of some while others failed, who may say more in the next walk. */
  bySome: Pick<Set<string>, 'add'>;
}

export function startWalk(memory: GatherContext['memory'], head: Moment['head']): SaidInWalk {
  const { referenced, unreferenced } = memory.upstreams.said(head.generation, head.ledger);
  const bySome = new Set<string>();
  const has = (id: string) => unreferenced.has(id) || bySome.has(id);
  return { referenced, unreferenced: { ...unreferenced, has }, bySome };
}

export type WalkMoment = Moment & { said: SaidInWalk };

/** Throws whatever is not a {@link GatherFault}. */
export function requireFault(error: unknown): GatherFault {
  if (error instanceof ConeUnavailable || error instanceof UpstreamFailure) return error;
  throw error;
}

/**
 * Gathers the blocks below the tops: pushed blocks, tips, or a proposal's parents. Nobody requested
 * the tops, so each has to pass the rules for such blocks, proof of work (C-6) among them; the pool
 * has tested the pushed ones. C-6 exempts the blocks below, which a node requests.
 *
 * @param tops hex IDs
 * @param held what the walk adds to `memory.fetched`, until its blocks are stored
 */
export async function gatherBlocks(
  context: GatherContext,
  moment: WalkMoment,
  tops: readonly string[],
  { budget, maxLevels, deadline, unasked = tops, namedBy }: GatherLimits,
  held: { heap: number },
): Promise<GatheredBlocks> {
  const { db, upstreams, ranking, urgency, memory } = context;
  const { pool, fetched: ofAll } = memory;
  const { head, rules, said } = moment;
  const unrequested = new Set(unasked.filter((id) => !pool.isPushed(id)));
  const refused = new Set<string>();
  const refuses = (id: string, block: ParsedBlock): boolean => {
    if (!unrequested.has(id) || isAdmittedUnasked(block, rules.parameters)) return false;
    refused.add(id);
    return true;
  };
  const met = new Map<string, ParsedBlock>();
  const query = createQuery(context, moment, deadline);
  const isFull = () =>
    held.heap >= MIN_FETCHED_HEAP_BYTES &&
    ofAll.heap >= Math.min(MAX_FETCHED_HEAP_BYTES, heapForBlocks(memory));
  const hold = (block: ParsedBlock): ParsedBlock => {
    held.heap += heapOf(block);
    ofAll.heap += heapOf(block);
    return block;
  };
  const cut: string[] = [];
  let fault: GatherFault | undefined;
  let [isBusy, isWithheld, isFailing] = [false, false, false];
  const givers = namedBy ? [namedBy] : upstreams;
  const note = (error: unknown) => {
    fault ??= requireFault(error);
  };
  const fetchOne = async (id: string): Promise<ParsedBlock | undefined> => {
    try {
      return await fetchIntoPool(pool, givers, id, ranking);
    } catch (error) {
      isBusy ||= error instanceof UpstreamFailure && error.isBusy;
      isFailing = true;
      note(error);
      return undefined;
    }
  };
  const skeleton = createConeSkeleton(tops);
  const { findUnreferenced } = await memory.index.view(db, head, []);
  await walkDown(skeleton, {
    recall(id) {
      const block = said.referenced.has(id) || isFull() ? undefined : pool.get(id);
      return block && !refuses(id, block) ? hold(block) : undefined;
    },
    async findKnown(ids) {
      const others = ids.filter((id) => !said.referenced.has(id));
      for (const id of ids) if (said.referenced.has(id)) note(referencedBefore(id));
      const known = await lookUpBlocks(db, findUnreferenced, others);
      return { has: (id) => known.has(id) || said.referenced.has(id) };
    },
    async fetch(ids) {
      const fetched: ParsedBlock[] = [];
      let at = 0;
      while (at < ids.length && budget.fetchesLeft > 0 && !isFull() && Date.now() < deadline) {
        if (isBusy) break;
        const due = ids.slice(at, at + Math.min(budget.fetchesLeft, FETCHED_AT_ONCE));
        at += due.length;
        budget.fetchesLeft -= due.length;
        const deep = due.filter((id) => skeleton.levelOf(id) >= maxLevels);
        deep.forEach(skeleton.restartLevels);
        const came: (ParsedBlock | undefined)[] = [];
        let isOver = false;
        const fetchDue = async ([i, id]: [number, string]) => {
          if (isOver) return;
          if (isFull()) return void cut.push(id);
          const block = await fetchOne(id);
          if (isOver) return;
          came[i] = block && hold(block);
        };
        // no more at once than have a connection: those that wait for one have less time to come
        const count = connectionsToEach(upstreams, urgency);
        const workers = startWorkers(due.entries(), fetchDue, count);
        const giveUp = () => {
          [isOver, isBusy, isWithheld] = [true, true, true];
          note(new UpstreamFailure('not all blocks came in time'));
          return due.map(pool.get);
        };
        const fetching = Promise.all(workers).then(() => came);
        const [blocks] = await Promise.all([
          within(deadline - Date.now(), fetching, giveUp),
          query(deep).catch(note),
        ]).finally(() => {
          isOver = true;
        });
        for (const block of blocks) {
          if (block === undefined) continue;
          const id = toHexDigits(block.id);
          if (!said.referenced.has(id) && !refuses(id, block)) fetched.push(block);
        }
      }
      cut.push(...ids.slice(at));
      return fetched;
    },
    meet: (id, block) => met.set(id, block),
  });
  isWithheld ||= isFailing && held.heap === 0;
  if (cut.length > 0 && ofAll.heap > held.heap && isFull()) {
    isBusy = true;
    note(new UpstreamFailure('other walks hold as many blocks as may be', true));
  }
  if (cut.length > 0) {
    const reason = 'more blocks of the cone are not here than are fetched at once';
    note(new ConeUnavailable('over-budget', reason));
  }
  const order = Array.from(skeleton.order(), skeleton.idAt);
  const blocks = new Map(order.map((id) => [id, met.get(id)!]));
  return { blocks, fault, cut, refused: refused.size, isBusy, isWithheld };
}

function referencedBefore(id: string): ConeUnavailable {
  const reason = `block 0x${id} is referenced by an earlier milestone, and its data is not here`;
  return new ConeUnavailable('referenced-before', reason);
}

/**
 * Creates a query of the upstreams about blocks, by hex ID, which notes what they say and throws a
 * {@link GatherFault} if a block is not unreferenced.
 */
export function createQuery(
  { upstreams, voters = upstreams }: GatherContext,
  { head, said }: WalkMoment,
  deadline: number,
): (ids: readonly string[]) => Promise<void> {
  const readReference = createReferenceReader({ upstreams: voters, index: head.ledger + 1 });
  let left = MAX_QUERIED;
  return async (ids) => {
    const due = ids.filter((id) => !said.unreferenced.has(id)).slice(0, left);
    left -= due.length;
    let fault: unknown;
    for (let at = 0; at < due.length && Date.now() < deadline; at += QUERIED_AT_ONCE) {
      const queried = due.slice(at, at + QUERIED_AT_ONCE);
      const queries = Promise.allSettled(
        queried.map((id) => requireUnreferenced(id, said, readReference)),
      );
      const outcomes = await untilLate(queries, deadline);
      for (const outcome of outcomes) if (outcome.status === 'rejected') fault ??= outcome.reason;
    }
    if (fault !== undefined) throw fault;
  };
}

/** Throws a ConeUnavailable where the block is referenced, or no upstream knows it. */
export async function requireUnreferenced(
  id: string,
  { referenced, unreferenced, bySome }: SaidInWalk,
  readReference: ReadReference,
): Promise<void> {
  let isBySome = false;
  const reference = await readReference(id, () => {
    isBySome = true;
  });
  if (reference === undefined)
    throw new ConeUnavailable('unknown-block', `block 0x${id} is not known upstream`);
  if (reference === null) return void (isBySome ? bySome : unreferenced).add(id);
  referenced.add(id);
  throw referencedBefore(id);
}
