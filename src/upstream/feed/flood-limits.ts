/**
 * What keeps a flood of valid blocks without value from taking the place of others: these blocks
 * were not asked for, and each stays stored until it has become an orphan (src/ledger/orphans.ts).
 * What is not stored for these reasons is not lost: it is fetched once a milestone or a question
 * leads to it, and then the limits of those who ask are the ones that count.
 */
import type { KnownReference } from '../../ledger/prove-open.ts';

/** Open blocks, of the 100,000 that are kept at most, up to which pushed ones are stored. */
const MAX_OPEN_FOR_PUSHED = 50_000;

/** How many pushed blocks may be stored beside so many open ones. */
export function roomForPushed(openBlocks: number): number {
  return Math.max(0, MAX_OPEN_FOR_PUSHED - openBlocks);
}

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
