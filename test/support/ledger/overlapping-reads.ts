/** A database whose batches take a while each, and how many were under way at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../src/ledger/core/database.ts';
import { disturbed } from './ledger-harness.ts';

const EACH_MS = 20;

export function countingOverlaps(db: Database): { db: Database; most: () => number } {
  let reads = 0;
  let most = 0;
  const begin = async () => {
    most = Math.max(most, ++reads);
    await sleep(EACH_MS);
  };
  return { db: disturbed(db, begin, async () => void reads--), most: () => most };
}
