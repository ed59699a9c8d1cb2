/**
 * A signed milestone whose past cone, as D1 has it, has blocks too many: blocks that an earlier
 * milestone referenced, of which nothing here can tell (src/ledger/view/doubtful-blocks.ts). The
 * upstream that the milestone comes from is queried about them. Its word needs no trust: without the
 * blocks that it calls referenced, the inclusion root must be the signed one.
 */
import type { Database } from '../../ledger/core/database.ts';
import { unlessMoved } from '../../ledger/core/fence.ts';
import type { Head } from '../../ledger/core/head.ts';
import { ConeUnavailable } from '../../ledger/intake/block-source.ts';
import { NumberMap } from '../../ledger/record/number-map.ts';
import type { ConsistentView } from '../../ledger/view/consistent-view.ts';
import { findDoubtful, readBlockIds, SaidOfBlock } from '../../ledger/view/doubtful-blocks.ts';
import { equalBytes } from '../../stardust/encoding/bytes.ts';
import { inclusionRoot } from '../../stardust/white-flag/walk.ts';
import { type OfLedgerIndex, ofLedgerIndex } from '../../upstream/block-ids.ts';
import { createReferenceReader } from '../../upstream/read-references.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import type { RootDiffers } from '../apply-milestone.ts';

/**
 * What upstreams said about doubtful blocks, by the blocks' numbers, which stay the same until
 * blocks are dropped. Of the ledger's generation and index.
 */
export type SaidOfNumbers = OfLedgerIndex<Map<Upstream, NumberMap>>;

export function createSaidOfNumbers(): SaidOfNumbers {
  return ofLedgerIndex(() => new Map());
}

/** Queries in one pass, which may make 10,000 subrequests, and those at once. */
const MAX_QUERIED = 1000;
const QUERIED_AT_ONCE = 30;

/**
 * Queries the upstream about the blocks of the cone that nothing proves, the lowest first. Throws an
 * UpstreamFailure where the upstream cannot tell, a ConeUnavailable, `over-budget`, where the next
 * pass continues, and a LedgerMoved.
 */
export async function queryDoubtful(
  db: Database,
  { view, order }: RootDiffers,
  upstream: Upstream,
  saidOf: SaidOfNumbers,
): Promise<void> {
  const { cone, head } = view;
  if (knowsAll(head)) return;
  const said = saidBy(upstream, head, saidOf);
  for (let left = MAX_QUERIED; ; ) {
    const { unsaid } = findDoubtful(cone, order, said);
    if (unsaid.length === 0) return;
    if (left <= 0)
      throw new ConeUnavailable(
        'over-budget',
        'more blocks that may be referenced are in question',
      );
    const due = unsaid.slice(0, left);
    left -= due.length;
    const ids = await unlessMoved(db, head, head.ledger, () => readBlockIds(db, view, due));
    const referenced = await readReferenced(upstream, head.ledger + 1, [...ids.values()]);
    for (const [position, id] of ids)
      said.set(
        cone.numberAt(position),
        referenced.has(id) ? SaidOfBlock.Referenced : SaidOfBlock.Unreferenced,
      );
  }
}

/**
 * Positions of the blocks that the milestone's cone has and the milestone does not reference, by
 * what the upstream said; undefined where that is not what was signed. `unsaid`: it has to be
 * queried about more.
 */
export function findLeftOut(
  { view: { cone, head }, order, root }: RootDiffers,
  upstream: Upstream,
  saidOf: SaidOfNumbers,
): ReadonlySet<number> | 'unsaid' | undefined {
  if (knowsAll(head)) return undefined;
  const { leftOut, unsaid } = findDoubtful(cone, order, saidBy(upstream, head, saidOf));
  if (unsaid.length > 0) return 'unsaid';
  const kept = order.filter((position) => !leftOut.has(position));
  if (leftOut.size > 0 && equalBytes(inclusionRoot(cone, kept), root)) return leftOut;
  // it may say something else when it is queried again
  saidOf(head.generation, head.ledger).delete(upstream);
  return undefined;
}

/** Whatever is referenced was referenced by milestones that this ledger applied. */
function knowsAll({ start, genesis }: Head): boolean {
  return start === genesis;
}

function saidBy(upstream: Upstream, { generation, ledger }: Head, saidOf: SaidOfNumbers) {
  const saidByAll = saidOf(generation, ledger);
  const said = saidByAll.get(upstream) ?? new NumberMap();
  saidByAll.set(upstream, said);
  return said;
}

/**
 * Whether a staged block has a parent without a number: an entry point, or a block that an upstream
 * called referenced (store-cone.ts).
 */
export function hasStagedRoot({ cone, packs }: ConsistentView): boolean {
  const isRoot = (position: number) => {
    for (let at = 0; at < cone.parentCountAt(position); at++)
      if (cone.parentAt(position, at) === 0) return true;
    return false;
  };
  return packs.some(({ isStaged, first, statuses: { size } }) => {
    for (let at = 0; isStaged && at < size; at++) if (isRoot(first + at)) return true;
    return false;
  });
}

/**
 * Those of the blocks, by hex ID, that the upstream calls referenced by a milestone before `index`.
 * One that it does not know any more counts as referenced: it has the milestone, with all that it
 * references. Throws an UpstreamFailure where it cannot tell.
 */
export async function readReferenced(
  upstream: Upstream,
  index: number,
  ids: readonly string[],
): Promise<Set<string>> {
  const readReference = createReferenceReader({ upstreams: [upstream], index });
  const referenced = new Set<string>();
  for (let at = 0; at < ids.length; at += QUERIED_AT_ONCE) {
    const some = ids.slice(at, at + QUERIED_AT_ONCE);
    const said = await Promise.all(some.map(readReference));
    for (const [i, id] of some.entries()) if (said[i] !== null) referenced.add(id);
  }
  return referenced;
}
