/**
 * Databases in memory with the ledger of a recorded network at one of its indexes.
 */
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { fillIndex } from '../../../src/ledger/output-list/fill-index.ts';
import type { IndexSettings } from '../../../src/ledger/output-list/indexed-kinds.ts';
import { asFile } from '../ledger/ledger-harness.ts';
import { openMemory } from '../ledger/memory-database.ts';
import { fullSnapshot } from '../network/network-snapshot.ts';
import { type RecordedName, recordedNetwork } from '../network/recorded-network.ts';

export async function listedLedger(
  index: number,
  name: RecordedName = 'network-n',
): Promise<SqliteDatabase> {
  const db = await openMemory();
  const snapshot = fullSnapshot(recordedNetwork(name), { target: index });
  await loadSnapshot(db, asFile(snapshot), undefined);
  return db;
}

export const EVERY_KIND: IndexSettings = { indexAll: true, finalMilestone: undefined };
export const ONLY_NFTS: IndexSettings = { indexAll: false, finalMilestone: undefined };

/** Indexes every kind of output, as the follower does; how many steps it takes. */
export async function indexEveryKind(db: Database): Promise<number> {
  for (let steps = 1; ; steps++) if (await fillIndex(db, EVERY_KIND)) return steps;
}
