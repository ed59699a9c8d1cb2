/**
 * Loading a snapshot: staged beside the ledger that is served, which it replaces at the end, in one batch (design §5).
 *
 * Whatever goes wrong before leaves the served ledger as it is. Files that are not good leave no trace; what an interruption leaves is gone on with.
 */
import { Refusal, toBase64, toHexDigits } from '../stardust/bytes.ts';
import { encode } from '../stardust/codec.ts';
import { protocolParametersOption } from '../stardust/milestone.ts';
import { type SnapshotFile, SnapshotRefusal } from '../stardust/snapshot/byte-stream.ts';
import { readSnapshot, type SnapshotOptions, type SnapshotSummary } from '../stardust/snapshot/read-snapshot.ts';
import { type Database, forEachPiece, runBatch } from './rows.ts';
import { STAGED_TABLES, Staging, stagingName } from './staging.ts';

/** Tables that do not tell of the ledger: the publisher's row names the ledger that it belongs to, the other is wrangler's. */
const KEPT_TABLES = ['nft_index', 'd1_migrations'];

/** `_cf_…` are the platform's. */
const SELECT_SCHEMA = `
  SELECT type, name, tbl_name, sql FROM sqlite_master
  WHERE type IN ('table', 'index') AND sql IS NOT NULL AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  ORDER BY name`;

const INSERT_HEAD = `
  INSERT INTO head (one, generation, genesis, start, ledger, treasury_milestone, treasury_amount, imported)
  VALUES (1, ?1, ?2, ?3, ?3, ?4, ?5, ?6)`;

/** With its payload where the files have it. */
const INSERT_MILESTONE = `
  INSERT INTO milestone (idx, id, timestamp, payload)
  VALUES (?1, ?2, ?3, (SELECT payload FROM import_progress WHERE milestone = ?1))`;

/** Solid entry points are referenced and nothing more is known of them. */
const INSERT_ENTRY_POINTS = 'INSERT INTO block (id, milestone, seen) SELECT value, ?2, ?2 FROM json_each(?1)';

const INSERT_PARAMETERS = 'INSERT INTO parameters (target, announced, bytes) VALUES (?1, ?2, ?3)';

export interface LoadedLedger extends SnapshotSummary {
  /** Names this import (head.ts). */
  generation: string;
}

/** Rejects with a SnapshotRefusal when the files are not good. */
export async function loadSnapshot(
  db: Database,
  full: SnapshotFile,
  delta: SnapshotFile | undefined,
  options: SnapshotOptions = {},
): Promise<LoadedLedger> {
  const staging = new Staging(db);
  try {
    const summary = await readSnapshot(full, delta, staging, options);
    await placeNfts(staging, delta === undefined ? ['full', full.size] : ['delta', delta.size]);
    const generation = crypto.randomUUID();
    await runBatch(db, await replaceStatements(db, staging, summary, generation, Date.now()));
    return { ...summary, generation };
  } catch (error) {
    if (error instanceof SnapshotRefusal) await staging.drop();
    throw error;
  }
}

async function placeNfts(staging: Staging, end: [file: 'full' | 'delta', offset: number]): Promise<void> {
  try {
    await staging.placeNfts();
  } catch (error) {
    if (error instanceof Refusal) throw new SnapshotRefusal(...end, error.message, error);
    throw error;
  }
}

/** Statements that put the staged ledger in the place of the served one; run them as one batch. */
async function replaceStatements(
  db: Database,
  staging: Staging,
  summary: SnapshotSummary,
  generation: string,
  now: number,
): Promise<D1PreparedStatement[]> {
  const { ledgerIndex, milestoneId, timestamp, treasury } = summary;
  const { results } = await db
    .prepare(SELECT_SCHEMA)
    .all<{ type: string; name: string; tbl_name: string; sql: string }>();
  const isStaged = (table: string) => STAGED_TABLES.some((name) => name === table);
  const cleared = results
    .filter(
      ({ type, name }) =>
        type === 'table' && !isStaged(name) && !KEPT_TABLES.includes(name) && !name.startsWith('import_'),
    )
    .map(({ name }) => `DELETE FROM ${name}`);
  const replaced = STAGED_TABLES.flatMap((name) => [
    `DROP TABLE ${name}`,
    `ALTER TABLE ${stagingName(name)} RENAME TO ${name}`,
  ]);
  // an index goes with its table
  const indexes = results.filter(({ type, tbl_name }) => type === 'index' && isStaged(tbl_name)).map(({ sql }) => sql);
  return [
    staging.fence(),
    ...[...cleared, ...replaced, ...indexes].map((sql) => db.prepare(sql)),
    db
      .prepare(INSERT_HEAD)
      .bind(
        generation,
        summary.genesisIndex,
        ledgerIndex,
        toHexDigits(treasury.milestoneId),
        String(treasury.amount),
        now,
      ),
    db.prepare(INSERT_MILESTONE).bind(ledgerIndex, toHexDigits(milestoneId), timestamp),
    ...forEachPiece(db, INSERT_ENTRY_POINTS, summary.solidEntryPoints.map(toHexDigits), ledgerIndex),
    ...summary.parameters.map((option) =>
      db
        .prepare(INSERT_PARAMETERS)
        .bind(option.targetMilestoneIndex, ledgerIndex, toBase64(encode(protocolParametersOption, option))),
    ),
    db.prepare('DROP TABLE import_progress'),
  ];
}
