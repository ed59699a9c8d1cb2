/**
 * What a walk over records leaves open: milestones that were not verified when their blocks came in.
 */
import { isMilestoneBlock, type MilestoneRules } from '../../stardust/milestone-keys.ts';
import type { WhiteFlag } from '../../stardust/white-flag/walk.ts';
import type { Database } from '../core/database.ts';
import { ConeUnavailable } from '../intake/block-source.ts';
import { readBlocks } from './cone-blocks.ts';
import type { ConsistentView } from './consistent-view.ts';

/** Blocks that carry the previous milestone's payload and are verified in one request. */
const MAX_VERIFIED = 100;

/**
 * Whether one of the blocks that carry the previous milestone's payload, unverified so far,
 * properly carries it (M-2 to M-5).
 */
export async function meetsPreviousMilestone(
  db: Database,
  view: ConsistentView,
  { metPreviousMilestone, unverified }: WhiteFlag,
  { keys, verify }: MilestoneRules,
): Promise<boolean> {
  if (metPreviousMilestone || unverified.length === 0) return metPreviousMilestone;
  if (unverified.length > MAX_VERIFIED) {
    const reason = `more than ${MAX_VERIFIED} blocks carry the previous milestone, none was verified`;
    throw new ConeUnavailable('too-large', reason);
  }
  const numbers = unverified.map((position) => view.cone.numberAt(position));
  for (const block of await readBlocks(db, view, numbers))
    if (await isMilestoneBlock(block, keys, verify)) return true;
  return false;
}
