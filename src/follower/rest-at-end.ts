/**
 * A ledger that is over: FINAL_MILESTONE names the milestone at which the network ended
 * (docs/contract.md#a-ledger-that-is-over). There the follower builds the trees over the ledger, and
 * rests.
 */
import type { Database } from '../ledger/core/database.ts';
import { readHead } from '../ledger/core/head.ts';
import { buildFinalLedger } from '../ledger/final/build-final-ledger.ts';
import type { WriteLog } from '../log.ts';
import { logFailure } from './follower-context.ts';
import { stopFollowing } from './follower-status.ts';

/**
 * Whether the ledger has come to its final milestone. One that is beyond it is none of this
 * network's, or the setting is wrong: that stops the follower, and says so.
 */
export async function hasEnded(
  db: Database,
  finalMilestone: number | undefined,
  log: WriteLog,
): Promise<boolean> {
  if (finalMilestone === undefined) return false;
  const head = await readHead(db);
  if (head === undefined || head.ledger < finalMilestone) return false;
  if (head.ledger > finalMilestone) {
    await stopFollowing(
      db,
      `the ledger is at milestone ${head.ledger}, beyond FINAL_MILESTONE, ${finalMilestone}`,
      log,
    );
  }
  return true;
}

/**
 * One step of building the trees over a final ledger (docs/final-ledger.md). Returns true if the
 * next pass need not follow at once: nothing is left to build, or a later pass tries again.
 */
export async function buildFinalIfPossible(
  db: Database,
  finalMilestone: number | undefined,
): Promise<boolean> {
  try {
    return await buildFinalLedger(db, finalMilestone);
  } catch (error) {
    logFailure('follower.final-ledger-not-built', error);
    return true;
  }
}
