/**
 * Which pushed blocks are not worth storing. They are not lost: a block is fetched once a milestone
 * or a request leads to it.
 */
import type { KnownReference } from '../../ledger/intake/prove-unreferenced.ts';

/**
 * Whether a block lies so deep that no node takes it, or a block upon it, for a tip: one of its
 * parents was referenced more than `belowMaxDepth` milestones before the ledger's. So no milestone
 * is likely to reference it
 * (https://github.com/iotaledger/hornet/blob/v2.0.1/pkg/tangle/tipscore.go).
 *
 * @param parents those of the block's parents that are known
 * @param ledger index
 */
export function isBelowMaxDepth(
  parents: readonly KnownReference[],
  ledger: number,
  belowMaxDepth: number,
): boolean {
  return parents.some(({ milestone }) => milestone !== null && milestone + belowMaxDepth < ledger);
}
