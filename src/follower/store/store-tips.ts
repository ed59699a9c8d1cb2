/** Stores the blocks near the tips between milestones, for the coordinator's next request. */
import { within } from '../../platform/clock.ts';
import { joinIds, splitIds } from '../../upstream/block-ids.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import type { GatherContext, Moment } from './gather-blocks.ts';
import { type StoredBlocks, storeBelow } from './store-gathered.ts';

/** Blocks fetched in one go; more are left to the next. */
const MAX_FETCHED = 300;

/** Levels of blocks without a query. */
const MAX_LEVELS = 64;

/** Milliseconds after which nothing is waited for, as milestones wait meanwhile. */
const FETCH_MS = 4000;

/** Walks that may be cut off one below the other: 150,000 blocks, more than tips may have. */
const MAX_CUT = 500;

/**
 * Stores what lies below the tips of the upstream at this place, which has confirmed the ledger's
 * milestone: one that is behind does not know all references.
 *
 * What lies there may be larger than the pool, so that a walk from the tips would find evicted what
 * the one before it fetched. So the next walk begins where the last one was cut off. Once it has
 * come down, what it met is stored, and the walk above it is repeated. Blocks of a chain are
 * fetched twice, those of a network whose blocks have parents among the last 200 eight times.
 */
export async function storeTips(
  context: GatherContext,
  moment: Moment,
  place: number,
): Promise<Pick<StoredBlocks, 'stored' | 'refused'> & { isMore: boolean }> {
  const { generation, ledger } = moment.head;
  // what one has named is not asked of another
  const cuts = context.memory.tips.cut(generation, ledger);
  cuts[place] ??= [];
  const cutTops = cuts[place];
  const namedBy = context.upstreams[place]!;
  const budget = { fetchesLeft: MAX_FETCHED };
  const limits = { namedBy, budget, maxLevels: MAX_LEVELS, deadline: Date.now() + FETCH_MS };
  const leave = () => context.ranking?.beginWith((place + 1) % context.upstreams.length);
  if (cutTops.length === 0) {
    const tips = await within(FETCH_MS, namedBy.readTips(), () => undefined);
    // the next milestone may not come in time either
    if (tips === undefined) leave();
    else if (tips.length > 0) cutTops.push(joinIds([...new Set(tips)]));
  }
  const all = { stored: 0, refused: 0 };
  let [isCut, isBusy] = [false, false];
  while (cutTops.length > 0 && !isCut && !isBusy && Date.now() < limits.deadline) {
    const walkLimits = { ...limits, unasked: splitIds(cutTops[0]!) };
    const walk = await storeBelow(context, moment, splitIds(cutTops.at(-1)!), walkLimits);
    const { stored, refused, cut, fault } = walk;
    all.stored += stored;
    all.refused += refused;
    isCut = cut.length > 0;
    isBusy = walk.isBusy;
    if (isCut) cutTops.push(joinIds(cut.slice(0, MAX_FETCHED)));
    else cutTops.pop();
    // it came down to what cannot be stored
    const isInVain = !isCut && stored === 0 && !(fault instanceof UpstreamFailure);
    if (walk.isWithheld) leave();
    if (isInVain || cutTops.length > MAX_CUT) cutTops.length = 0;
  }
  return { ...all, isMore: !isBusy && cutTops.length > 0 };
}
