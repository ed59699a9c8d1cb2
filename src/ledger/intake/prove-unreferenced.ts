/**
 * Which unknown blocks no milestone references, as their parents alone prove it: about these nobody
 * has to be asked (docs/architecture.md#the-trap).
 *
 * The ledger stands at index L. It was imported at index `start` and applied milestones `start` + 1
 * to L by itself; it knows the IDs of what milestone m references if m > `start` and m >
 * `forgotten`. A block is *unreferenced* at L if no milestone up to L references it.
 *
 * Claim. A block is unreferenced at L if it is unknown here and one of its parents
 *   (a) is unreferenced at L, or
 *   (b) is referenced by a milestone m > `forgotten`, where m > `start` or `start` is the genesis.
 *
 * Proof. A milestone references the past cone of its parents, less what earlier milestones
 * reference. So whatever references a block, its parents are referenced by then (*).
 * Suppose that a milestone k ≤ L references the block.
 *   1. By (*) none of its parents is unreferenced at L: not (a). So there is a parent as in (b), and
 *      by (*) m ≤ k.
 *   2. k > `start`: either k ≥ m > `start`; or `start` is the genesis, and the genesis and what is
 *      before it reference nothing.
 *   3. k ≥ m > `forgotten`.
 *   4. So this ledger applied k itself and has not forgotten its IDs: the block is known. But it is
 *      unknown; so no such k exists. ∎
 *
 * It takes that the block's ID, the states of its parents, `forgotten` and L are of one moment, and
 * it proves nothing about another one: whoever stores the block does so behind a fence on the
 * ledger's generation and index. (a) takes that what is stored as unreferenced is unreferenced;
 * blocks stored by this proof, or because upstream said so, are.
 *
 * That a parent is still found proves nothing: of a milestone that is being forgotten some IDs may
 * be left. Nor does a parent from before the import: its child may be referenced before it as well.
 * And an unknown parent proves nothing about its child, nor an unreferenced child about its parent;
 * each is decided by its own parents.
 *
 * For what is doubtful, not proven, upstream is queried (docs/architecture.md#the-trap), but not
 * for each block. Let D be the doubtful ones of some blocks, and its *roots* those with no parent
 * in D. If no milestone up to an index i ≤ L references a root, then none up to i references any of
 * D: a block of D that is no root has a parent in D, which by induction is not referenced up to i,
 * and by (*) neither is the block. What upstream says of i stays true, so the roots may be asked
 * about after the view was read. ∎
 */

import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';

/** Where the ledger's knowledge of IDs begins; of the same moment as what is known of blocks. */
export interface KnownHistory {
  /** Genesis milestone index. */
  genesis: number;
  /** Ledger index that the import brought. */
  start: number;
  /** IDs of milestones up to this index are forgotten. */
  forgotten: number;
}

/** A block that is known: the milestone that references it, or null. */
export interface KnownReference {
  milestone: number | null;
}

/** Whether an unknown block with such a parent is unreferenced: (a) or (b). */
export function provesUnreferenced(
  parent: KnownReference,
  { genesis, start, forgotten }: KnownHistory,
): boolean {
  const { milestone } = parent;
  if (milestone === null) return true;
  return milestone > forgotten && (milestone > start || start === genesis);
}

/**
 * Hex IDs of those of the blocks that are proven unreferenced: by parents that are known, or that
 * are among the blocks and proven unreferenced themselves.
 *
 * @param blocks by hex ID, parents first; none of them is known here
 * @param known by hex ID: of all parents that are not among the blocks, those which are known
 */
export function findProvenUnreferenced(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  history: KnownHistory,
): Set<string> {
  const proven = new Set<string>();
  const proves = (parent: string): boolean => {
    if (blocks.has(parent)) return proven.has(parent);
    const reference = known.get(parent);
    return reference !== undefined && provesUnreferenced(reference, history);
  };
  for (const [id, { block }] of blocks)
    if (block.parents.map(toHexDigits).some(proves)) proven.add(id);
  return proven;
}

/**
 * Hex IDs of the roots of what is doubtful: blocks that nothing proves unreferenced, and none of
 * whose parents is such a block. If all of them are unreferenced, all of the blocks are.
 *
 * @param blocks as above
 */
export function findDoubtfulRoots(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  history: KnownHistory,
): string[] {
  const proven = findProvenUnreferenced(blocks, known, history);
  const isDoubtful = (id: string) => blocks.has(id) && !proven.has(id);
  return Array.from(blocks)
    .filter(([id, { block }]) => isDoubtful(id) && !block.parents.map(toHexDigits).some(isDoubtful))
    .map(([id]) => id);
}
