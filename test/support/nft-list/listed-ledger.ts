/**
 * Databases with the ledger of network-n at one of its indexes, its lists filled, and an app that
 * answers from one.
 */
import type { SqliteDatabase } from '../../../scripts/lib/wrangler/sqlite-database.ts';
import type { Database } from '../../../src/ledger/database.ts';
import { loadSnapshot } from '../../../src/ledger/import/import-snapshot.ts';
import { fillNftLists } from '../../../src/ledger/nft-list/fill-lists.ts';
import { readNftList } from '../../../src/ledger/nft-list/read-list.ts';
import { readNftOutputs } from '../../../src/ledger/nft-outputs.ts';
import { readOutput } from '../../../src/ledger/output-status.ts';
import type { EdgeNode } from '../../../src/node/edge-node.ts';
import { asFile } from '../ledger/ledger-harness.ts';
import { openMemory } from '../ledger/memory-database.ts';
import { fullSnapshot } from '../network/network-snapshot.ts';
import { recordedNetwork } from '../network/recorded-network.ts';

/** Without its lists, as an import leaves it. */
export async function importedLedger(index: number): Promise<SqliteDatabase> {
  const db = await openMemory();
  const snapshot = fullSnapshot(recordedNetwork('network-n'), { target: index });
  await loadSnapshot(db, asFile(snapshot), undefined);
  return db;
}

export async function listedLedger(index: number): Promise<SqliteDatabase> {
  const db = await importedLedger(index);
  await fillAll(db);
  return db;
}

export async function fillAll(db: Database, pageSize = 100): Promise<void> {
  while (!(await fillNftLists(db, pageSize)));
}

/** What the node asks the database, and no more than that. */
export function nodeOver(db: Database): Pick<EdgeNode, 'listNfts' | 'readNfts' | 'readOutput'> {
  return {
    listNfts: (query) => readNftList(db, query),
    readNfts: (nftIds) => readNftOutputs(db, nftIds),
    readOutput: (outputId) => readOutput(db, outputId),
  };
}
