/**
 * An index of many NFTs: in D1, and in KV as if the publisher had put them long ago.
 *
 * A million puts through miniflare would take an hour. Instead its files are written directly: one
 * for each value, and a row in SQLite that names it.
 */

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { persistPath } from '../../cli/lib/wrangler/local-database.ts';
import { withLocalKv } from '../../cli/lib/wrangler/local-kv.ts';
import type { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import { readWranglerConfig } from '../../cli/lib/wrangler/wrangler-config.ts';
import { forEachPiece, runBatch } from '../../src/ledger/core/database.ts';
import { insertHead, insertMilestone } from '../../src/ledger/core/write-head.ts';
import { entryKey, writeEntry } from '../../src/nft-index/kv-values.ts';
import { MAX_STATES, RECENT_KEY, writeRecent } from '../../src/nft-index/recent-changes.ts';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { testHead, testMilestone } from '../../test/support/ledger/test-head.ts';

export const LEDGER_INDEX = 1000;
const GENERATION = 'bench';

/** 64 hex digits. */
export function nftId(number: number): string {
  return blake2b256(new TextEncoder().encode(`nft ${number}`)).toHex();
}

/** 68 hex digits: the ID of the output that holds it. */
export function holder(number: number): string {
  return `${blake2b256(new TextEncoder().encode(`output ${number}`)).toHex()}0000`;
}

const INSERT_NFTS =
  'INSERT INTO nft (id, output, changed) SELECT value ->> 0, value ->> 1, 1 FROM json_each(?1)';

/** Without contents: lookups read none. */
const INSERT_OUTPUTS = `
  INSERT INTO output (id, chain, bytes, block, created, created_time, sum)
  SELECT value ->> 1, value ->> 0, '', '', 1, 1, 0 FROM json_each(?1)`;

/** Writes a ledger that holds only NFTs, and their entries in KV. */
export async function fillNftIndex(
  db: SqliteDatabase,
  persistTo: string,
  count: number,
): Promise<void> {
  await runBatch(db, [
    insertHead(db, testHead(GENERATION, 1, LEDGER_INDEX)),
    insertMilestone(db, testMilestone(LEDGER_INDEX, 0)),
  ]);
  for (let at = 0; at < count; at += PIECE) {
    const rows = Array.from({ length: Math.min(PIECE, count - at) }, (_, i) => {
      return [nftId(at + i), holder(at + i)];
    });
    await runBatch(db, [
      ...forEachPiece(db, INSERT_NFTS, rows),
      ...forEachPiece(db, INSERT_OUTPUTS, rows),
    ]);
  }
  // makes miniflare's folders and tables
  await putInto(persistTo, 'seal:bench', GENERATION);
  writeEntries(persistTo, count);
}

const PIECE = 5000;

/**
 * Puts `recent` with a thousand changes of now, of other NFTs than those of the index. It is valid
 * for two minutes.
 */
export async function putRecentNow(persistTo: string): Promise<void> {
  const changed = Array.from(
    { length: MAX_STATES },
    (_, i) => [nftId(-1 - i), holder(-1 - i)] as const,
  );
  const recent = writeRecent({
    generation: GENERATION,
    filledFrom: 0,
    from: 1,
    to: LEDGER_INDEX,
    fromTime: 0,
    publishedAt: Date.now(),
    states: Object.fromEntries(changed),
    prefixes: '',
  });
  await putInto(persistTo, RECENT_KEY, recent);
}

async function putInto(persistTo: string, key: string, value: string): Promise<void> {
  await withLocalKv(persistTo, readWranglerConfig(), (store) => store.put(key, value));
}

function writeEntries(persistTo: string, count: number): void {
  const folder = join(persistPath(persistTo), 'kv');
  const blobs = join(folder, readWranglerConfig().localNamespaceId, 'blobs');
  const tables = join(folder, 'miniflare-KVNamespaceObject');
  const table = readdirSync(tables).find((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))!;
  const db = new DatabaseSync(join(tables, table));
  const insert = db.prepare('INSERT INTO _mf_entries (key, blob_id) VALUES (?, ?)');
  db.exec('BEGIN');
  for (let number = 0; number < count; number++) {
    const id = number.toString(16).padStart(80, '0');
    const nft = nftId(number);
    const entry = { nft, generation: GENERATION, ledgerIndex: 1, outputId: holder(number) };
    writeFileSync(join(blobs, id), writeEntry(entry));
    insert.run(entryKey(nft), id);
  }
  db.exec('COMMIT');
  db.close();
}
