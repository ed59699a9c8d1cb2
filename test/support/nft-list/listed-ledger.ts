/**
 * Databases in memory with the ledger of network-n at one of its indexes.
 */
import type { SqliteDatabase } from '../../../scripts/lib/wrangler/sqlite-database.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { asFile } from '../ledger/ledger-harness.ts';
import { openMemory } from '../ledger/memory-database.ts';
import { fullSnapshot } from '../network/network-snapshot.ts';
import { recordedNetwork } from '../network/recorded-network.ts';

export async function listedLedger(index: number): Promise<SqliteDatabase> {
  const db = await openMemory();
  const snapshot = fullSnapshot(recordedNetwork('network-n'), { target: index });
  await loadSnapshot(db, asFile(snapshot), undefined);
  return db;
}
