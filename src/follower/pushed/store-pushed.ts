/**
 * Stores pushed blocks, every two seconds and when a pack of them has come. Nothing is fetched or
 * queried for them: their parents prove them unreferenced
 * (src/ledger/intake/prove-unreferenced.ts). The walk from an upstream's tips finds the others
 * (store-tips.ts).
 */
import { MAX_PACK_BLOCKS } from '../../ledger/packs/pack-columns.ts';
import { hasPassed } from '../../platform/clock.ts';
import { type FollowerContext, isFull, noteLedger } from '../follower-context.ts';
import { readPosition } from '../ledger-position.ts';
import { storeBelow } from '../store/store-gathered.ts';

/** Pushed blocks of one step: a full pack is a row by itself, and requests do not wait for more. */
export const FULL_PACK = MAX_PACK_BLOCKS;

/** Tops of one walk: more than come in the time for which a parent may be late. */
const MAX_TOPS = 2000;

/** Milliseconds for which a parent may come later than its child, before it counts as lost. */
const LATE_MS = 1000;

export type FeedTools = Pick<FollowerContext, 'db' | 'upstreams' | 'keys' | 'verify' | 'memory'>;

/**
 * Stores what it can of what was pushed; returns the number of blocks. Throws a LedgerMoved if
 * another follower was first, and what the database throws.
 */
export async function storePushed(context: FeedTools): Promise<number> {
  const { db, memory } = context;
  const { pool, tips } = memory;
  const tops = pool.pushed(MAX_TOPS);
  if (tops.length === 0 || isFull(memory)) return 0;
  const position = await readPosition(db, context);
  noteLedger(memory, position);
  const { belowMaxDepth } = position.rules.parameters[0]!;
  const ids = tops.map(([id]) => id);
  const limits = { budget: { fetchesLeft: 0 }, maxLevels: Number.POSITIVE_INFINITY, deadline: 0 };
  const { stored, cut } = await storeBelow(context, position, ids, {
    ...limits,
    maxDepth: belowMaxDepth,
    most: FULL_PACK,
  });
  for (const [id, came] of tops) {
    // where no parent is missing, only an upstream can tell whether the block is unreferenced
    const isLate = cut.length === 0 || hasPassed(LATE_MS, came, Date.now());
    if (!isLate || pool.get(id) === undefined) continue;
    pool.settle(id);
    tips.hasLooseEnds = true;
  }
  return stored;
}
