/**
 * The walk from some blocks down to what D1 knows: what is not at hand is fetched. Tips and the
 * parents of a proposal are the tops of the same walk (store-gathered.ts stores what it met).
 *
 * A block that an upstream calls referenced ends the walk: its descendants cannot be stored
 * (docs/architecture.md#the-trap).
 */

import type { Database } from '../../ledger/core/database.ts';
import type { Head } from '../../ledger/core/head.ts';
import { ConeUnavailable } from '../../ledger/intake/block-source.ts';
import { createConeSkeleton } from '../../ledger/intake/cone-skeleton.ts';
import { lookUpBlocks } from '../../ledger/intake/known-blocks.ts';
import { walkDown } from '../../ledger/intake/walk-down.ts';
import type { UnreferencedIndex } from '../../ledger/write/unreferenced-index.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import type { BlockCache } from '../../upstream/block-cache.ts';
import { fetchBlock, verifyAhead } from '../../upstream/fetch-blocks.ts';
import type { Ranking } from '../../upstream/ranking.ts';
import { createReferenceReader, type ReadReference } from '../../upstream/read-references.ts';
import { type Upstream, UpstreamFailure } from '../../upstream/upstream.ts';
import type { SaidOfBlocks } from '../follower-context.ts';

/** Queries about blocks in one walk, and those at once. */
const MAX_QUERIED = 300;
const QUERIED_AT_ONCE = 30;

export interface GatherTools {
  /** Blocks are fetched from the first that has them. */
  upstreams: readonly Upstream[];
  /**
   * The same, to be queried about references: any "yes" wins, and all are waited for up to the
   * deadline. So one that lies is believed only if no honest one is up. What is stored on its word
   * stays, and all requests see it.
   */
  voters?: readonly Upstream[] | undefined;
  /** Which of them to fetch from first; by default in their order. */
  ranking?: Ranking;
  /** Of the ledger and its index: what upstreams said about blocks that are not known here. */
  said: SaidOfBlocks;
  index: UnreferencedIndex;
  /** Takes the blocks that are fetched, for the milestone that will reference them. */
  atHand: BlockCache;
}

export interface GatherLimits {
  /** Blocks fetched in one walk; blocks at hand do not count. */
  maxFetched: number;
  /**
   * Levels of blocks in a row about which no upstream was queried. A walk that has come below the
   * import meets nothing that is known, and only an upstream can tell that it has.
   */
  maxLevels: number;
  /** Unix milliseconds after which nothing more is fetched or queried. */
  deadline: number;
  /** Whether the walk leaves out a block, and what only it leads to; by default none. */
  refuses?: (id: string, block: ParsedBlock) => boolean;
}

export interface GatheredBlocks {
  /** By hex ID, parents first. One that was at hand may be known to D1 all the same. */
  blocks: Map<string, ParsedBlock>;
  /** Why some block below the tops is not among them: the first reason that the walk met. */
  fault: GatherFault | undefined;
  /** Whether the limits ended the walk before it came down to what is known. */
  isCut: boolean;
}

export type GatherFault = ConeUnavailable | UpstreamFailure;

/** Throws whatever is not a {@link GatherFault}. */
export function requireFault(error: unknown): GatherFault {
  if (error instanceof ConeUnavailable || error instanceof UpstreamFailure) return error;
  throw error;
}

/** @param tops hex IDs */
export async function gatherBlocks(
  db: Database,
  head: Head,
  tops: readonly string[],
  tools: GatherTools,
  { maxFetched, maxLevels, deadline, refuses = () => false }: GatherLimits,
): Promise<GatheredBlocks> {
  const { upstreams, ranking, said, atHand } = tools;
  const met = new Map<string, ParsedBlock>();
  const query = createQuery(tools, head, deadline);
  let left = maxFetched;
  let isCut = false;
  let fault: GatherFault | undefined;
  const note = (error: unknown) => {
    fault ??= requireFault(error);
  };
  const fetchOne = async (id: string): Promise<ParsedBlock | undefined> => {
    try {
      const block = await fetchBlock(upstreams, id, ranking);
      await verifyAhead(block);
      atHand.set(id, block);
      return block;
    } catch (error) {
      note(error);
      return undefined;
    }
  };
  const skeleton = createConeSkeleton(tops);
  const { findUnreferenced } = await tools.index.view(db, head, []);
  await walkDown(skeleton, {
    recall(id) {
      const block = said.referenced.has(id) ? undefined : atHand.get(id);
      return block && !refuses(id, block) ? block : undefined;
    },
    async findKnown(ids) {
      const others = ids.filter((id) => !said.referenced.has(id));
      for (const id of ids) if (said.referenced.has(id)) note(referencedBefore(id));
      const known = await lookUpBlocks(db, findUnreferenced, others);
      return { has: (id) => known.has(id) || said.referenced.has(id) };
    },
    async fetch(ids) {
      const due = Date.now() < deadline ? ids.slice(0, left) : [];
      if (due.length < ids.length) isCut = true;
      left -= due.length;
      const deep = due.filter((id) => skeleton.levelOf(id) >= maxLevels);
      deep.forEach(skeleton.restartLevels);
      const [fetched] = await Promise.all([
        Promise.all(due.map(fetchOne)),
        query(deep).catch(note),
      ]);
      return fetched
        .filter((block) => block !== undefined)
        .filter((block) => {
          const id = toHexDigits(block.id);
          return !said.referenced.has(id) && !refuses(id, block);
        });
    },
    meet: (id, block) => met.set(id, block),
  });
  if (isCut) {
    const reason = `more than ${maxFetched} blocks of the cone are not here`;
    note(new ConeUnavailable('over-budget', reason));
  }
  const order = Array.from(skeleton.order(), skeleton.idAt);
  return { blocks: new Map(order.map((id) => [id, met.get(id)!])), fault, isCut };
}

function referencedBefore(id: string): ConeUnavailable {
  const reason = `block 0x${id} is referenced by an earlier milestone, and its data is not here`;
  return new ConeUnavailable('referenced-before', reason);
}

/** Queries the upstreams about blocks, by hex ID, and notes what they say. */
export type QueryReferences = (ids: readonly string[]) => Promise<void>;

/**
 * What it returns throws a {@link GatherFault} for the first block that is not unreferenced, once all
 * were queried.
 */
export function createQuery(
  { upstreams, voters = upstreams, said }: GatherTools,
  head: Head,
  deadline: number,
): QueryReferences {
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

/** Throws an UpstreamFailure at the deadline; what was queried may still be answered. */
export async function untilLate<T>(work: Promise<T>, deadline: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const failure = new UpstreamFailure('not all upstreams say in time what is referenced');
  const timer = setTimeout(late.reject, Math.max(deadline - Date.now(), 0), failure);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Throws a ConeUnavailable where the block is referenced, or no upstream knows it. */
export async function requireUnreferenced(
  id: string,
  said: SaidOfBlocks,
  readReference: ReadReference,
): Promise<void> {
  const reference = await readReference(id);
  if (reference === undefined)
    throw new ConeUnavailable('unknown-block', `block 0x${id} is not known upstream`);
  (reference === null ? said.unreferenced : said.referenced).add(id);
  if (reference !== null) throw referencedBefore(id);
}
