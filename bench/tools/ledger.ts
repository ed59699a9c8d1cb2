/**
 * Ledgers to ask questions about, in folders that the Worker takes as `persistTo`. Big ones take
 * minutes to make: they are kept in the folder for temporary files until a source file changes that
 * decides what is written.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT } from '../../cli/lib/project.ts';
import { openLocalDatabase } from '../../cli/lib/wrangler/local-database.ts';
import type { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import { readWranglerConfig } from '../../cli/lib/wrangler/wrangler-config.ts';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';

const LEDGERS = join(tmpdir(), 'stardust-edge-node', 'ledgers');

/** The files that decide how a ledger is written. Every case asserts its answers. */
const SOURCES = [
  'migrations/0001_ledger.sql',
  'migrations/0004_rests.sql',
  'src/modules/final/build-final-ledger.ts',
  'src/ledger/import/load-snapshot.ts',
  'src/ledger/output-list/list-rows.ts',
  'src/ledger/packs/id-rows.ts',
  'src/ledger/packs/pack-columns.ts',
  'src/ledger/intake/prepare-blocks.ts',
  'src/ledger/output-list/fill-index.ts',
  'src/ledger/write/store-blocks.ts',
  'src/nft-index/kv-values.ts',
  'src/ledger/packs/block-record.ts',
  'bench/tools/network-ledger.ts',
  'bench/tools/nft-index.ts',
  'bench/tools/nft-ledger.ts',
];

export type FillLedger = (db: SqliteDatabase, persistTo: string) => void | Promise<void>;

/**
 * A folder with this ledger, to be read only: others use it too. `fill` gets a new one, whose
 * tables are empty.
 */
export async function keptLedger(name: string, fill: FillLedger): Promise<string> {
  const folder = join(LEDGERS, `${name}.${fingerprint()}`);
  if (existsSync(folder)) return folder;
  mkdirSync(LEDGERS, { recursive: true });
  for (const old of readdirSync(LEDGERS)) {
    if (old.startsWith(`${name}.`)) rmSync(join(LEDGERS, old), { recursive: true });
  }
  // renamed when it is whole, so that one whose making was interrupted is not used
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

/** Works in a new folder and removes it. */
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
