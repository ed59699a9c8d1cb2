/**
 * A signed milestone whose past cone in D1 has blocks too many: blocks that an earlier milestone
 * referenced, unknown here (src/ledger/view/doubtful-blocks.ts). The milestone's upstream is
 * queried about them. Its word needs no trust: without the blocks that it calls referenced, the
 * inclusion root must be the signed one. Each one's answers are kept apart: some may be a liar's.
 */
import type { Database } from '../../ledger/core/database.ts';
import { unlessMoved } from '../../ledger/core/fence.ts';
import { IdMap } from '../../ledger/core/id-map.ts';
import { ConeUnavailable } from '../../ledger/intake/block-source.ts';
import { knowsEveryReference } from '../../ledger/intake/prove-unreferenced.ts';
import { findInCone } from '../../ledger/packs/viewed-packs.ts';
import { findDoubtful, readBlockIds } from '../../ledger/view/doubtful-blocks.ts';
import { equalBytes } from '../../stardust/encoding/bytes.ts';
import { inclusionRoot } from '../../stardust/white-flag/walk.ts';
import {
  createReferenceReader,
  type ReadReference,
  untilLate,
} from '../../upstream/read-references.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import type { RootDiffers } from '../apply-milestone.ts';

const QUERIED_AT_ONCE = 30;

/** Times that a block is asked for until it is unknown: one node of several behind a URL may lag. */
export const MAX_ASKED = 8;

/** Numbers of {@link SaidReferences}; those between are how often the upstream did not know it. */
const UNREFERENCED = 0;
const REFERENCED = MAX_ASKED + 1;

/** Words of one upstream about blocks, 60 bytes each: a cone may have as many as a liar likes. */
export interface SaidReferences {
  words: IdMap;
  /** Hex IDs of those that are called referenced, or are not known in spite of {@link MAX_ASKED}. */
  referenced: Pick<ReadonlySet<string>, 'has'>;
}

export function createSaid(): SaidReferences {
  const words = new IdMap(32);
  return { words, referenced: { has: (id) => (words.get(id) ?? UNREFERENCED) >= MAX_ASKED } };
}

/** The first hex ID that counts as referenced because the upstream does not know the block. */
export function firstLost({ words }: SaidReferences): string | undefined {
  let least: string | undefined;
  for (let index = 0; index < words.size; index++) {
    const id = words.numberAt(index) === MAX_ASKED ? words.idAt(index) : undefined;
    if (id !== undefined && (least === undefined || id < least)) least = id;
  }
  return least;
}

/** Words that are looked up in a cone at once: 300 bytes each. */
const TOLD_AT_ONCE = 20_000;

export interface QueryLimits {
  /** Requests that the pass may still make of upstreams; it is counted down. */
  budget: { fetchesLeft: number };
  /** Unix milliseconds after which no answer is waited for. */
  waitUntil: number;
}

/**
 * Returns the numbers of the blocks of the cone that the upstream calls referenced, each with its
 * doubtful past. Throws an UpstreamFailure if the upstream cannot tell in time, a ConeUnavailable
 * `over-budget` if the pass may not query that much, and a LedgerMoved.
 */
export async function queryReferenced(
  db: Database,
  { view, order }: RootDiffers,
  upstream: Upstream,
  limits: QueryLimits,
  said: SaidReferences,
): Promise<number[]> {
  const { cone, head } = view;
  if (knowsEveryReference(head)) return [];
  const doubtful = findDoubtful(cone, order);
  // without a statement for each 30 of what was said in earlier passes
  for (let at = 0; at < said.words.size; at += TOLD_AT_ONCE) {
    const count = Math.min(TOLD_AT_ONCE, said.words.size - at);
    const ids = Array.from({ length: count }, (_, i) => said.words.idAt(at + i));
    const told = findInCone(
      cone,
      ids.filter((id) => isSaid(said, id)),
    );
    const answer = ([id, { number }]: [string, { number: number }]) =>
      [cone.find(number), said.referenced.has(id)] as const;
    doubtful.note(new Map(Array.from(told, answer)));
  }
  const readReference = createReferenceReader({ upstreams: [upstream], index: head.ledger + 1 });
  for (let due = doubtful.toQuery(QUERIED_AT_ONCE); due.length > 0; ) {
    const ids = await unlessMoved(db, head, head.ledger, () => readBlockIds(db, view, due));
    await readReferenced(readReference, [...ids.values()], limits, said);
    doubtful.note(new Map(Array.from(ids, ([at, id]) => [at, said.referenced.has(id)])));
    due = doubtful.toQuery(QUERIED_AT_ONCE);
  }
  return doubtful.referenced().map(cone.numberAt);
}

/** Returns the positions of these blocks if the milestone references the cone without them. */
export function findLeftOut(
  { view: { cone }, order, root }: RootDiffers,
  referenced: readonly number[],
): ReadonlySet<number> | undefined {
  const leftOut = new Set(referenced.map(cone.find));
  const kept = order.filter((position) => !leftOut.has(position));
  return leftOut.size > 0 && equalBytes(inclusionRoot(cone, kept), root) ? leftOut : undefined;
}

/**
 * Notes which of the blocks, by hex ID, an upstream calls referenced before, and which not. One that
 * it has not known {@link MAX_ASKED} times counts as referenced, as it has the milestone with its
 * whole cone. Throws an UpstreamFailure if it cannot tell in time, a ConeUnavailable `over-budget` if
 * the pass may not query that much; what it has told is noted.
 */
export async function readReferenced(
  readReference: ReadReference,
  ids: readonly string[],
  { budget, waitUntil }: QueryLimits,
  said: SaidReferences,
): Promise<void> {
  const ask = async (id: string) => {
    const milestone = await readReference(id);
    const times = (said.words.get(id) ?? 0) + 1;
    const known = milestone === null ? UNREFERENCED : REFERENCED;
    said.words.set(id, milestone === undefined ? times : known);
  };
  for (let due = unsaid(said, ids); due.length > 0; due = unsaid(said, due))
    for (let at = 0; at < due.length; at += QUERIED_AT_ONCE) {
      const some = due.slice(at, at + QUERIED_AT_ONCE);
      if (budget.fetchesLeft < some.length)
        throw new ConeUnavailable('over-budget', 'more earlier references than one pass may query');
      budget.fetchesLeft -= some.length;
      await untilLate(Promise.all(some.map(ask)), waitUntil);
    }
}

const isSaid = ({ words, referenced }: SaidReferences, id: string): boolean =>
  words.get(id) === UNREFERENCED || referenced.has(id);

const unsaid = (said: SaidReferences, ids: readonly string[]) =>
  ids.filter((id) => !isSaid(said, id));
