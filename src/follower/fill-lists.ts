/**
 * Filling the lists of NFTs between milestones, a part a pass (docs/storage.md#nft-lists).
 */
import { hasPassed } from '../clock.ts';
import type { Database } from '../ledger/database.ts';
import { fillNftLists } from '../ledger/nft-list/fill-lists.ts';
import { describeError, writeLog } from '../log.ts';

/** So that milestones do not wait long for it. */
const MAX_FILL_MS = 2000;

const NFTS_AT_ONCE = 2000;

/** Whether all NFTs are in the lists now. What fails stops nothing: the next pass goes on. */
export async function fillLists(db: Database): Promise<boolean> {
  const started = Date.now();
  try {
    do {
      if (await fillNftLists(db, NFTS_AT_ONCE)) return true;
    } while (!hasPassed(MAX_FILL_MS, started, Date.now()));
  } catch (error) {
    writeLog('warn', 'lists not filled', { error: describeError(error) });
  }
  return false;
}
