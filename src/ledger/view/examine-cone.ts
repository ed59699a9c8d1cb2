/** Examines milestones that were not verified when their blocks came in. */
import { isMilestoneBlock, type MilestoneRules } from '../../stardust/milestone-keys.ts';
import type { WhiteFlag } from '../../stardust/white-flag/walk.ts';
import type { Database } from '../core/database.ts';
import { ConeUnavailable } from '../intake/block-source.ts';
import { readBlocks } from './cone-blocks.ts';
import type { ConsistentView } from './consistent-view.ts';

/** Blocks that carry the previous milestone's payload and are verified for one request. */
export const MAX_VERIFIED_FOR_REQUEST = 100;

/** Blocks whose bytes are in memory at once while they are verified: up to 3 MB. */
const VERIFIED_AT_ONCE = 100;

/**
 * Returns whether one of the unverified blocks that carry the previous milestone's payload properly
 * carries it (M-2 to M-5). Throws a ConeUnavailable `too-large` if there are more than `most`. A
 * milestone passes no `most`: anybody can copy a milestone with bad signatures into blocks without
 * proof of work, and no number of these may stop the ledger.
 */
export async function meetsPreviousMilestone(
  db: Database,
  view: ConsistentView,
  { metPreviousMilestone, unverified }: WhiteFlag,
  { keys, verify }: MilestoneRules,
  most = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  if (metPreviousMilestone) return true;
  if (unverified.length > most) {
    const reason = `more than ${most} blocks carry the previous milestone, none was verified`;
    throw new ConeUnavailable('too-large', reason);
  }
  for (let at = 0; at < unverified.length; at += VERIFIED_AT_ONCE) {
    const some = unverified.slice(at, at + VERIFIED_AT_ONCE);
    const numbers = some.map((position) => view.cone.numberAt(position));
    for (const block of await readBlocks(db, view, numbers))
      if (await isMilestoneBlock(block, keys, verify)) return true;
  }
  return false;
}
