/**
 * Sees to it that the ledger's lists have the kinds of outputs that they are to have: every kind
 * where INDEX says so, and of a ledger that is over; else NFTs alone
 * (docs/storage.md#lists).
 */
import type { Database } from '../ledger/core/database.ts';
import { ALL_INDEXED } from '../ledger/core/head.ts';
import { fillIndex, type IndexSettings } from '../ledger/write/fill-index.ts';
import { type FollowerMemory, logFailure } from './follower-context.ts';

/** Milliseconds of a pass: the next milestones must not wait for longer. */
const MAX_FILL_MS = 5000;

/** Of one pass: three queries each, where D1 allows 1,000 an invocation. */
const MAX_STEPS = 100;

/** `more`: to be called again right away. `failed`: to be called again later. */
export type IndexState = 'done' | 'more' | 'failed';

/**
 * Fills the index for some seconds. A failure stops nothing else: no list is answered before the
 * index is whole.
 */
export async function keepIndex(
  db: Database,
  settings: IndexSettings,
  { mutex, lastLedger }: Pick<FollowerMemory, 'mutex' | 'lastLedger'>,
): Promise<IndexState> {
  // each pass reads it: an import or Time Travel may have changed it
  const mayBeWanted = settings.indexAll || settings.finalMilestone !== undefined;
  if (lastLedger !== undefined) {
    const { indexed } = lastLedger;
    if (indexed === ALL_INDEXED || (!mayBeWanted && indexed === '')) return 'done';
  }
  const deadline = Date.now() + MAX_FILL_MS;
  try {
    for (let step = 0; step < MAX_STEPS && Date.now() < deadline; step++) {
      if (await mutex(() => fillIndex(db, settings))) return 'done';
    }
  } catch (error) {
    logFailure('follower.index-not-filled', error);
    return 'failed';
  }
  return 'more';
}
