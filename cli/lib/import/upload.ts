/**
 * Uploads a ledger from a database on this machine to the deployed D1, by wrangler. Outputs, and what
 * NFTs are listed by, go into staging tables, file by file; the last file replaces the ledger that is
 * served by the staged one. KV is left to the deployed publisher: `wrangler kv bulk put` does not tell
 * which keys Cloudflare could not write.
 *
 * D1 executes a file whole or not at all. Progress is noted after each step. Steps are idempotent:
 * one that was done but not noted is done again.
 */
import { join } from 'node:path';
import { type Database, quote } from '../../../src/ledger/core/database.ts';
import { isNftSql } from '../../../src/ledger/core/output-bytes.ts';
import { ReplacementRefused } from '../../../src/ledger/import/load-snapshot.ts';
import {
  readStagingScript,
  SMALL_TABLES,
  selectNfts,
  stagingName,
} from '../../../src/ledger/import/staging-tables.ts';
import { OutputType } from '../../../src/stardust/output.ts';
import { errorMessage } from '../process/command-line.ts';
import type { RunWrangler } from '../wrangler/run-wrangler.ts';
import { SqlFile } from './sql-file.ts';

/** How far an upload has come. */
export interface UploadProgress {
  /** Files executed, how many outputs are in them, and the last one's ID. */
  files: number;
  outputs: number;
  output: string;
}

export const NOTHING_UPLOADED: UploadProgress = { files: 0, outputs: 0, output: '' };

/**
 * Characters of a file of SQL. D1 imports files of up to 5 GB, but was reported to fail at some 100
 * MB, and wrangler splits long values in quadratic time.
 * https://github.com/cloudflare/workers-sdk/issues/4407
 * https://github.com/cloudflare/workers-sdk/issues/15556
 */
export const MAX_FILE = 16_000_000;

/** Outputs that are read at once. */
const PAGE = 100;

/** Of the NFT outputs behind the ID ?1 up to ?2. */
const SELECT_DETAILS = `
  SELECT d.* FROM output o
    CROSS JOIN output_detail d
      ON d.kind = ${OutputType.Nft} AND d.created_time = o.created_time AND d.output = unhex(o.id)
  WHERE o.id > ?1 AND o.id <= ?2 AND ${isNftSql('o.bytes')}`;

/** As SELECT_DETAILS. */
const SELECT_RESTS = `
  SELECT r.* FROM output o CROSS JOIN output_rest r ON r.key = o.rest
  WHERE o.id > ?1 AND o.id <= ?2`;

export interface UploadSource {
  /** The database that holds the ledger. */
  db: Database;
  generation: string;
  outputs: number;
  nfts: number;
  /** The last index at which the served ledger may be replaced; absent: it may be at any. */
  newest?: number;
}

export interface UploadTarget {
  run: RunWrangler;
  /** The database's name for wrangler. */
  databaseName: string;
  /** For the files. */
  folder: string;
  /** Characters of a file. */
  maxFile: number;
}

/** Does all steps that are left. */
export async function upload(
  source: UploadSource,
  target: UploadTarget,
  progress: UploadProgress,
  note: (progress: UploadProgress) => void,
): Promise<void> {
  let at = progress;
  for (;;) {
    const next = await uploadOutputs(source, target, at);
    if (next === undefined) break;
    at = next;
    note(at);
  }
  await replaceLedger(source, target, at);
}

/**
 * Uploads the next file of outputs; undefined if none are left. The first file makes the tables.
 */
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
  while (file.length < target.maxFile) {
    const page = await source.db
      .prepare('SELECT * FROM output WHERE id > ?1 ORDER BY id LIMIT ?2')
      .bind(last, PAGE)
      .all<Record<string, unknown>>();
    file.addRows('import_output', page.results);
    const upTo = String(page.results.at(-1)?.id ?? last);
    for (const [table, sql] of [
      ['output_rest', SELECT_RESTS],
      ['output_detail', SELECT_DETAILS],
    ] as const) {
      const statement = source.db.prepare(sql).bind(last, upTo);
      file.addRows(stagingName(table), (await statement.all<Record<string, unknown>>()).results);
    }
    last = upTo;
    outputs += page.results.length;
    if (page.results.length < PAGE) break;
  }
  if (last === output && files > 0) return undefined;
  file.add(`
    INSERT OR REPLACE INTO import_nft
    ${selectNfts(`id > ${quote(output)} AND id <= ${quote(last)}`)}`);
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

/**
 * SQL that sets the number of executed files from `from` to `to`, once or again. It fails, as the
 * position must not be NULL, if the staging tables are of another ledger or at another file.
 */
function fence({ generation }: UploadSource, from: number, to: number): string {
  return `
    UPDATE import_progress
    SET position = CASE
      WHEN identity = ${quote(generation)} AND position IN (${from}, ${to}) THEN ${to}
    END`;
}

const notReplaced = (folder: string) =>
  'nothing was replaced: the deployed ledger is newer than the snapshot by now, its tables are of ' +
  'another release (install that one), or uploaded rows are missing (delete ' +
  `${join(folder, 'upload.json')}); give the same command again`;

/**
 * Replaces the ledger that is served. Throws a ReplacementRefused if rows are missing, if that
 * ledger is newer, or if its tables are of another release, which the swap would make as here.
 */
async function replaceLedger(
  source: UploadSource,
  target: UploadTarget,
  { files }: UploadProgress,
): Promise<void> {
  const { db, outputs, nfts, newest = Number.MAX_SAFE_INTEGER } = source;
  const { migrations, swap } = await readStagingScript(db);
  const file = new SqlFile(join(target.folder, 'replace.sql'));
  file.add(
    fence(source, files, files),
    // fails by the table's CHECK, which forbids a second row
    `INSERT INTO import_progress (one, identity, position) SELECT 2, '', 0
     WHERE (SELECT count(*) FROM import_output) <> ${outputs}
       OR (SELECT count(*) FROM import_output_rest) <> (SELECT count(rest) FROM import_output)
       OR (SELECT count(*) FROM import_nft) <> ${nfts}
       OR (SELECT count(*) FROM import_output_detail) <> ${nfts}
       OR (SELECT count(*) FROM d1_migrations) <> ${migrations}
       OR (SELECT ledger FROM head) > ${newest}`,
    ...swap,
  );
  try {
    await execute(target, file);
  } catch (error) {
    if (!errorMessage(error).includes('CHECK constraint failed')) throw error;
    throw new ReplacementRefused(notReplaced(target.folder), { cause: error });
  }
}

async function execute({ run, databaseName }: UploadTarget, { path }: SqlFile): Promise<void> {
  await run(['d1', 'execute', databaseName, '--remote', '--yes', '--file', path]);
}
