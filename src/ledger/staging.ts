/**
 * Staging: the ledger that an import makes, in tables of its own beside the one that is served.
 *
 * Their definitions are those of the served tables, read from the database, so that there is one place to change them: the migrations. What was staged
 * stays when an import is interrupted; the next one goes on behind it if it reads the same files, and begins anew if not.
 */
import { Refusal, toBase64, toHex, toHexDigits } from '../stardust/bytes.ts';
import type { LedgerChange, LedgerSink } from '../stardust/snapshot/sink.ts';
import { type Database, forEachPiece, runBatch } from './rows.ts';

/** The tables that an import fills before it replaces them; in the place of `x`, `import_x` is filled. */
export const STAGED_TABLES = ['output', 'nft'] as const;

/** Where the import has come to, in one row. `milestone` and `payload`: the latest milestone that the files have whole. */
const CREATE_PROGRESS = `
  CREATE TABLE import_progress (
    one INTEGER PRIMARY KEY CHECK (one = 1), identity TEXT NOT NULL, position INTEGER NOT NULL, milestone INTEGER, payload TEXT)`;

export const SELECT_STAGED_TABLES = `
  SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name IN (${STAGED_TABLES.map((name) => `'${name}'`).join()}) ORDER BY name`;

const HAS_PROGRESS = `SELECT count(*) AS found FROM sqlite_master WHERE name = 'import_progress'`;

export const DROP_STAGING: readonly string[] = ['import_progress', ...STAGED_TABLES.map(stagingName)].map(
  (name) => `DROP TABLE IF EXISTS ${name}`,
);

/** Fails (the position must not be NULL) when another import is at work in the same tables. */
const MOVE_ON = `
  UPDATE import_progress SET position = CASE WHEN position = ?1 AND identity = ?2 THEN ?3 END`;

const ADD_OUTPUTS = `
  INSERT INTO import_output (id, bytes, nft, block, created, created_time, seen)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 4 FROM json_each(?1)`;

/** A second row is against the table's CHECK: the whole batch is undone unless all outputs to remove are there. */
const REQUIRE_OUTPUTS = `
  INSERT INTO import_progress (one, identity, position) SELECT 2, '', 0
  WHERE (SELECT count(*) FROM json_each(?1) j JOIN import_output o ON o.id = j.value) <> json_array_length(?1)`;

const REMOVE_OUTPUTS = 'DELETE FROM import_output WHERE id IN (SELECT value FROM json_each(?1))';

const KEEP_MILESTONE = `
  UPDATE import_progress SET milestone = ?1, payload = ?2 WHERE milestone IS NULL OR milestone < ?1`;

const SELECT_KNOWN = 'SELECT o.id FROM json_each(?1) j JOIN import_output o ON o.id = j.value';

/** Rows whose NFTs are placed by one statement: a fraction of a second, of the 30 that D1 allows. */
const PLACED_AT_ONCE = 50_000;

const PLACE_NFTS = `
  INSERT INTO import_nft (id, output, changed)
  SELECT nft, id, created FROM import_output WHERE row > ?1 AND row <= ?2 AND nft IS NOT NULL`;

const SELECT_TWINS = 'SELECT nft FROM import_output WHERE nft IS NOT NULL GROUP BY nft HAVING count(*) > 1 LIMIT 1';

export function stagingName(table: string): string {
  return `import_${table}`;
}

export class Staging implements LedgerSink {
  readonly #db: Database;
  #identity = '';
  #position = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  async begin(files: string): Promise<number> {
    const [tables, found] = await runBatch(this.#db, [
      this.#db.prepare(SELECT_STAGED_TABLES),
      this.#db.prepare(HAS_PROGRESS),
    ]);
    const definitions = tables!.map(({ name, sql }) => stagingDefinition(String(name), String(sql)));
    if (definitions.length < STAGED_TABLES.length)
      throw new Error('the database lacks its tables: its migrations are due');
    // what was staged under other definitions is of no use
    this.#identity = JSON.stringify([files, ...definitions]);
    const progress = found![0]!.found === 1 ? await this.#readProgress() : undefined;
    if (progress?.identity === this.#identity) {
      this.#position = Number(progress.position);
    } else {
      const statements = [...DROP_STAGING, ...definitions, CREATE_PROGRESS].map((sql) => this.#db.prepare(sql));
      const insert = this.#db.prepare('INSERT INTO import_progress (one, identity, position) VALUES (1, ?1, 0)');
      await runBatch(this.#db, [...statements, insert.bind(this.#identity)]);
    }
    return this.#position;
  }

  #readProgress(): Promise<Record<string, unknown> | null> {
    return this.#db.prepare('SELECT identity, position FROM import_progress').first<Record<string, unknown>>();
  }

  async apply({ add, remove, milestones, position }: LedgerChange): Promise<void> {
    const db = this.#db;
    const added = add.map(({ outputId, bytes, nftId, blockId, bookedIndex, bookedTimestamp }) => [
      toHexDigits(outputId),
      toBase64(bytes),
      nftId ? toHexDigits(nftId) : null,
      toHexDigits(blockId),
      bookedIndex,
      bookedTimestamp,
    ]);
    const removed = remove.map(toHexDigits);
    try {
      await runBatch(db, [
        db.prepare(MOVE_ON).bind(this.#position, this.#identity, position),
        ...forEachPiece(db, ADD_OUTPUTS, added),
        ...forEachPiece(db, REQUIRE_OUTPUTS, removed),
        ...forEachPiece(db, REMOVE_OUTPUTS, removed),
        ...milestones.map(({ index, payload }) => db.prepare(KEEP_MILESTONE).bind(index, toBase64(payload))),
      ]);
    } catch (error) {
      if (error instanceof Error && /constraint failed/i.test(error.message)) await this.#explain({ add, remove });
      throw error;
    }
    this.#position = position;
  }

  /** Throws the reason for which a change did not go in, if it is the files'. */
  async #explain({ add, remove }: Pick<LedgerChange, 'add' | 'remove'>): Promise<void> {
    const progress = await this.#readProgress();
    if (progress?.identity !== this.#identity || progress.position !== this.#position) {
      throw new Error('another import into this database is under way');
    }
    const seen = await this.#known(add.map(({ outputId }) => outputId));
    for (const { outputId } of add) {
      const id = toHexDigits(outputId);
      if (seen.has(id))
        throw new Refusal('1.4', `output ${toHex(outputId)} comes a second time, here or shortly before`);
      seen.add(id);
    }
    const known = await this.#known(remove);
    for (const id of remove) {
      if (!known.has(toHexDigits(id)) && !seen.has(toHexDigits(id))) {
        throw new Refusal('1.5', `output ${toHex(id)} goes, here or shortly before, and was not there`);
      }
    }
  }

  async #known(ids: readonly Uint8Array[]): Promise<Set<string>> {
    const found = await runBatch(this.#db, forEachPiece(this.#db, SELECT_KNOWN, ids.map(toHexDigits)));
    return new Set(found.flat().map(({ id }) => String(id)));
  }

  /** Fills the staged table of NFTs from that of outputs. A Refusal if two outputs hold the same NFT. */
  async placeNfts(): Promise<void> {
    const last = await this.#db
      .prepare('SELECT coalesce(max(row), 0) AS row FROM import_output')
      .first<{ row: number }>();
    await this.#db.prepare('DELETE FROM import_nft').run();
    try {
      for (let row = 0; row < last!.row; row += PLACED_AT_ONCE) {
        await this.#db
          .prepare(PLACE_NFTS)
          .bind(row, row + PLACED_AT_ONCE)
          .run();
      }
    } catch (error) {
      const twins = await this.#db.prepare(SELECT_TWINS).first<{ nft: string }>();
      if (twins !== null) throw new Refusal('E.5', `two unspent outputs hold the NFT 0x${twins.nft}`);
      throw error;
    }
  }

  /** Removes what was staged, unless it is that of an import before. */
  async drop(): Promise<void> {
    if (this.#identity === '') return;
    await runBatch(
      this.#db,
      DROP_STAGING.map((sql) => this.#db.prepare(sql)),
    );
  }

  /** Fails if the staged ledger is not the one that this sink has made; for the batch that puts it in its place. */
  fence(): D1PreparedStatement {
    return this.#db.prepare(MOVE_ON).bind(this.#position, this.#identity, this.#position);
  }
}

/** The statement that makes the staging table, from the one that made the served table. SQLite quotes the name of a table that was renamed. */
export function stagingDefinition(table: string, sql: string): string {
  const start = new RegExp(`^CREATE TABLE "?${table}"?(?=\\W)`);
  if (!start.test(sql)) throw new Error(`table ${table} is defined in an unknown way: ${sql}`);
  return sql.replace(start, `CREATE TABLE ${stagingName(table)}`);
}
