/**
 * Between milestones: the blocks near the tips are stored, so that a coordinator's request about
 * them finds them in D1.
 */

import type { FollowerContext } from '../follower-context.ts';
import type { Moment } from './gather-blocks.ts';
import { type StoredBlocks, storeBelow } from './store-gathered.ts';

/** Blocks fetched in one go; more are left to the next. */
const MAX_FETCHED = 300;

/** Levels of blocks without a query. */
const MAX_LEVELS = 64;

/** Milliseconds after which nothing more is fetched, as milestones wait meanwhile. */
const FETCH_MS = 4000;

/**
 * Stores what lies below the tips of the first upstream, which has confirmed the ledger's milestone:
 * one that is behind does not know yet of all blocks that are referenced.
 */
export async function storeTips(
  context: Pick<FollowerContext, 'db' | 'upstreams' | 'memory'>,
  moment: Moment,
): Promise<StoredBlocks> {
  const tips = new Set(await context.upstreams[0]!.readTips());
  const deadline = Date.now() + FETCH_MS;
  const limits = { maxFetched: MAX_FETCHED, maxLevels: MAX_LEVELS, deadline };
  return storeBelow(context, moment, [...tips], limits);
}
