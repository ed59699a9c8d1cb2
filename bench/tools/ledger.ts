/**
 * Ledgers to ask questions about, in folders that the Worker takes as `persistTo`; made once and kept in the folder for temporary files, as big ones take
 * minutes, until anything changes that they depend on.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLocalDatabase } from '../../scripts/lib/local-database.ts';
import type { SqliteDatabase } from '../../scripts/lib/sqlite-database.ts';
import { readWranglerConfig } from '../../scripts/lib/wrangler-config.ts';
import { blake2b256 } from '../../src/stardust/hash.ts';

const PROJECT = join(import.meta.dirname, '../..');
const LEDGERS = join(tmpdir(), 'stardust-edge-node', 'ledgers');

/** What decides how a ledger is written. What is written is asserted by every case. */
const SOURCES = [
  'migrations/0003_packs.sql',
  'src/ledger/open-packs.ts',
  'src/ledger/packs.ts',
  'src/ledger/prepare-blocks.ts',
  'src/ledger/store-blocks.ts',
  'src/nft-index/kv-entry.ts',
  'src/stardust/white-flag/block-record.ts',
  'bench/tools/network-ledger.ts',
  'bench/tools/nft-index.ts',
];

export type FillLedger = (db: SqliteDatabase, persistTo: string) => void | Promise<void>;

/** A folder with this ledger, for reading: others use it too. `fill` is given a new one with tables and nothing in them. */
export async function keptLedger(name: string, fill: FillLedger): Promise<string> {
  const folder = join(LEDGERS, `${name}.${fingerprint()}`);
  if (existsSync(folder)) return folder;
  mkdirSync(LEDGERS, { recursive: true });
  for (const old of readdirSync(LEDGERS)) {
    if (old.startsWith(`${name}.`)) rmSync(join(LEDGERS, old), { recursive: true });
  }
  // in one step, so that what was interrupted is not taken for a ledger
  const draft = join(LEDGERS, `draft.${randomUUID()}`);
  await fillLedger(draft, fill);
  renameSync(draft, folder);
  return folder;
}

export async function fillLedger(persistTo: string, fill: FillLedger): Promise<void> {
  const db = await openLocalDatabase(persistTo, readWranglerConfig());
  try {
    await fill(db, persistTo);
  } finally {
    db.close();
  }
}

/** Works in a folder that is gone afterwards. */
export async function withNewFolder<T>(work: (persistTo: string) => Promise<T>): Promise<T> {
  const folder = join(LEDGERS, `new.${randomUUID()}`);
  mkdirSync(folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function fingerprint(): string {
  const texts = SOURCES.map((source) => readFileSync(join(PROJECT, source), 'utf8'));
  return blake2b256(new TextEncoder().encode(texts.join('\0')))
    .toHex()
    .slice(0, 16);
}
