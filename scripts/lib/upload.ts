/**
 * Uploading a ledger that was loaded here to the deployed databases, by wrangler's own commands.
 *
 * Outputs go into staging tables, file by file; then the entries of all NFTs into KV, where they name their ledger and so say nothing about the one that is still
 * served; the last file puts the new ledger in its place. D1 executes a file whole or not at all. After each step is noted how far it has come; one that was done
 * and not noted is done again, to the same end.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, quote } from '../../src/ledger/database.ts';
import {
  readStagingScript,
  SMALL_TABLES,
  stagingName,
} from '../../src/ledger/import/staging-tables.ts';
import { entryKey, writeEntry } from '../../src/nft-index/kv-entry.ts';
import { adoptionSql } from '../../src/nft-index/seed-index.ts';
import type { RunWrangler } from './run-wrangler.ts';
import { SqlFile } from './sql-file.ts';

/** How far an upload has come. */
export interface UploadProgress {
  /** Files executed, how many outputs are in them, and the last one's ID. */
  files: number;
  outputs: number;
  output: string;
  /** Entries up to this NFT are in KV. */
  nft: string;
  /** The key put behind all of them, once it is. */
  seal: string | null;
}

export const NOTHING_UPLOADED: UploadProgress = {
  files: 0,
  outputs: 0,
  output: '',
  nft: '',
  seal: null,
};

/** Sizes of steps. D1 takes files of 5 GB, and was seen to fail on some of 100 MB (platform.md §2.4). */
export interface UploadLimits {
  /** Characters of a file of SQL. */
  file: number;
  /** Entries of a file for KV. */
  entries: number;
}

export const UPLOAD_LIMITS: UploadLimits = { file: 16_000_000, entries: 10_000 };

/** Outputs read at once. */
const PAGE = 100;

export interface UploadSource {
  /** Holds the ledger. */
  db: Database;
  generation: string;
  ledgerIndex: number;
  outputs: number;
  nfts: number;
}

export interface UploadTarget {
  run: RunWrangler;
  /** The database's name for wrangler. */
  databaseName: string;
  /** For the files. */
  folder: string;
  limits: UploadLimits;
}

/** Does all that is left to do. */
export async function upload(
  source: UploadSource,
  target: UploadTarget,
  progress: UploadProgress,
  note: (progress: UploadProgress) => void,
): Promise<void> {
  let at = progress;
  for (const step of [uploadOutputs, uploadEntries]) {
    for (
      let next = await step(source, target, at);
      next !== undefined;
      next = await step(source, target, at)
    ) {
      at = next;
      note(at);
    }
  }
  await replaceLedger(source, target, at);
}

/** The next file of outputs; undefined when there are no more. The first one begins with the tables. */
async function uploadOutputs(
  source: UploadSource,
  target: UploadTarget,
  progress: UploadProgress,
): Promise<UploadProgress | undefined> {
  const { files, output } = progress;
  const file = new SqlFile(join(target.folder, 'outputs.sql'));
  if (files === 0) await addTables(file, source);
  file.add(fence(source, files, files + 1));
  let last = output;
  let { outputs } = progress;
  while (file.length < target.limits.file) {
    const page = await source.db
      .prepare('SELECT * FROM output WHERE id > ?1 ORDER BY id LIMIT ?2')
      .bind(last, PAGE)
      .all<Record<string, unknown>>();
    file.addRows('import_output', page.results);
    last = String(page.results.at(-1)?.id ?? last);
    outputs += page.results.length;
    if (page.results.length < PAGE) break;
  }
  if (last === output && files > 0) return undefined;
  file.add(`
    INSERT OR REPLACE INTO import_nft (id, output, changed)
    SELECT nft, id, created FROM import_output
    WHERE id > ${quote(output)} AND id <= ${quote(last)} AND nft IS NOT NULL`);
  await execute(target, file);
  return { ...progress, files: files + 1, outputs, output: last };
}

async function addTables(file: SqlFile, { db, generation }: UploadSource): Promise<void> {
  const script = await readStagingScript(db);
  file.add(...script.drop, ...script.create);
  file.add(
    `INSERT INTO import_progress (one, identity, position) VALUES (1, ${quote(generation)}, 0)`,
  );
  for (const table of SMALL_TABLES) {
    file.addRows(
      stagingName(table),
      (await db.prepare(`SELECT * FROM ${table}`).all<Record<string, unknown>>()).results,
    );
  }
}

/** Fails (the position must not be NULL) unless the staging tables are those of this ledger and have come from one file to the next, or did so before. */
function fence({ generation }: UploadSource, from: number, to: number): string {
  return `
    UPDATE import_progress
    SET position = CASE WHEN identity = ${quote(generation)} AND position IN (${from}, ${to}) THEN ${to} END`;
}

/** The next file of entries, the seal behind the last; undefined when that was put. */
async function uploadEntries(
  { db, generation, ledgerIndex }: UploadSource,
  target: UploadTarget,
  progress: UploadProgress,
): Promise<UploadProgress | undefined> {
  if (progress.seal !== null) return undefined;
  const { results } = await db
    .prepare('SELECT id, output FROM nft WHERE id > ?1 ORDER BY id LIMIT ?2')
    .bind(progress.nft, target.limits.entries)
    .all<{ id: string; output: string | null }>();
  const last = results.at(-1);
  if (last === undefined) {
    const seal = `seal:${crypto.randomUUID()}`;
    await putPairs(target, [{ key: seal, value: generation }]);
    return { ...progress, seal };
  }
  const entryOf = (outputId: string | null) => writeEntry({ generation, ledgerIndex, outputId });
  await putPairs(
    target,
    results.map(({ id, output }) => ({ key: entryKey(id), value: entryOf(output) })),
  );
  return { ...progress, nft: last.id };
}

async function putPairs(
  { run, folder }: UploadTarget,
  pairs: readonly { key: string; value: string }[],
): Promise<void> {
  const path = join(folder, 'entries.json');
  writeFileSync(path, JSON.stringify(pairs));
  await run([
    'kv',
    'bulk',
    'put',
    path,
    '--binding',
    'NFT_INDEX',
    '--remote',
    '--preview',
    'false',
  ]);
}

/** One file: the staged ledger, if it is whole, in the place of the one that is served, and its entries with it. */
async function replaceLedger(
  source: UploadSource,
  target: UploadTarget,
  { files, seal }: UploadProgress,
): Promise<void> {
  const { db, generation, ledgerIndex, outputs, nfts } = source;
  const file = new SqlFile(join(target.folder, 'replace.sql'));
  file.add(
    fence(source, files, files),
    // a second row is against the table's CHECK
    `INSERT INTO import_progress (one, identity, position) SELECT 2, '', 0
     WHERE (SELECT count(*) FROM import_output) <> ${outputs} OR (SELECT count(*) FROM import_nft) <> ${nfts}`,
    ...(await readStagingScript(db)).swap,
    adoptionSql(generation, ledgerIndex, seal!, Date.now()),
  );
  await execute(target, file);
}

async function execute({ run, databaseName }: UploadTarget, { path }: SqlFile): Promise<void> {
  await run(['d1', 'execute', databaseName, '--remote', '--yes', '--file', path]);
}
