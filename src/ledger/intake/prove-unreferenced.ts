/**
 * Finds unknown blocks that no milestone references, as their parents alone prove it: nobody has to
 * be asked about these (docs/architecture.md#the-trap).
 *
 * The ledger stands at index L. It was imported at index `start` and applied milestones `start` + 1
 * to L by itself; it knows the IDs of what milestone m references if m > `start` and m >
 * `forgotten`. A block is *unreferenced* at L if no milestone up to L references it.
 *
 * Claim. A block is unreferenced at L if it is unknown here and one of its parents
 *  (a) is unreferenced at L, or
 *  (b) is referenced by a milestone m > `forgotten`, where m > `start` or `start` is the genesis.
 *
 * Proof. A milestone references the past cone of its parents, less what earlier milestones
 * reference. So whatever references a block, its parents are referenced by then (*). Suppose that a
 * milestone k ≤ L references the block.
 *  1. By (*) none of its parents is unreferenced at L: not (a). So there is a parent as in (b), and
 *     by (*) m ≤ k.
 *  2. k > `start`: either k ≥ m > `start`; or `start` is the genesis, and the genesis and what is
 *     before it reference nothing.
 *  3. k ≥ m > `forgotten`. So this ledger applied k itself and has not dropped its IDs: the block
 *     is known. But it is unknown; so no such k exists. ∎
 *
 * The block's ID, the states of its parents, `forgotten` and L must be of one moment, and nothing
 * is proven about another one: whoever stores the block does so behind a fence on the ledger's
 * generation and index. (a) takes that what is stored as unreferenced is unreferenced; blocks
 * stored by this proof, or because an upstream said so, are. Proofs of nothing: a parent of a
 * milestone some of whose IDs are dropped; one from before the import; an unknown one; an
 * unreferenced child.
 *
 * Upstreams are queried about the doubtful blocks, not about each. Let D be the doubtful ones of
 * some blocks, and its *roots* those with no parent in D. If no milestone up to an index i ≤ L
 * references a root, then none up to i references any of D: a block of D that is no root has a
 * parent in D, which by induction is not referenced up to i, and by (*) neither is the block. What
 * an upstream says of i stays true, so the roots may be asked about after the view was read. ∎
 */
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';

/** Beginning of the ledger's knowledge of IDs; of the same moment as the facts about blocks. */
export interface KnownHistory {
  /** Genesis milestone index. */
  genesis: number;
  /** Ledger index that the import brought. */
  start: number;
  /** IDs of milestones up to this index are dropped. */
  forgotten: number;
}

/** A block that is known: the milestone that references it, or null. */
export interface KnownReference {
  milestone: number | null;
}

/** Whether each block that a milestone up to the ledger's references is known here, by its ID. */
export function knowsEveryReference({ genesis, start, forgotten }: KnownHistory): boolean {
  return start === genesis && forgotten < start;
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
 * Finds those of the blocks, by hex ID, that are proven unreferenced by parents that are known, or
 * that are among the blocks and proven unreferenced themselves.
 *
 * @param blocks by hex ID, parents first; none of them is known here
 * @param known by hex ID: known parents that are not among the blocks
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
 * Finds the roots of what is doubtful: unproven blocks without an unproven parent. If all roots are
 * unreferenced, all of the blocks are.
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
