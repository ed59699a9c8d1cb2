/**
 * The sink of an import (src/stardust/snapshot/snapshot-sink.ts): it writes outputs, and what they
 * are listed by, into the staging tables, each change with its position. After an interruption the
 * next import resumes there if it reads the same files, and starts again if not.
 */
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { Reader, toHex, toHexDigits } from '../../stardust/encoding/bytes.ts';
import { refusal } from '../../stardust/error.ts';
import type { SnapshotSummary } from '../../stardust/snapshot/read-snapshot.ts';
import type { LedgerChange, LedgerSink } from '../../stardust/snapshot/snapshot-sink.ts';
import { OutputType } from '../../stardust/wire/output.ts';
import { type Database, forEachPiece, runBatch } from '../core/database.ts';
import { ALL_INDEXED, type Head, SCHEMA } from '../core/head.ts';
import { entrySum, idTableName, milestoneEntry } from '../core/id-index.ts';
import { insertParameters } from '../core/ledger-parameters.ts';
import { outputTypeSql, REST_KEYS, splitContents, writeOutputBytes } from '../core/output-bytes.ts';
import { first, many, one, readAlone, readQuery } from '../core/read-batch.ts';
import { addSums, fingerprintSql, moveFingerprints, rowSum } from '../core/row-sum.ts';
import { insertHead, insertMilestone } from '../core/write-head.ts';
import { insertListRows, listRow } from '../output-list/list-rows.ts';
import {
  HAS_PROGRESS,
  readStagingScript,
  SELECT_PROGRESS,
  SMALL_TABLES,
  type StagingScript,
  selectNfts,
  stagingName,
} from './staging-tables.ts';

const INSERT_PROGRESS = 'INSERT INTO import_progress (one, identity, position) VALUES (1, ?1, 0)';

/** Fails (the position must not be NULL) when another import is at work in the same tables. */
const MOVE_ON = `
  UPDATE import_progress SET position = CASE WHEN position = ?1 AND identity = ?2 THEN ?3 END`;

const ADD_OUTPUTS = `
  INSERT INTO import_output (id, block, created, created_time, sum, bytes, chain, rest)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
    value ->> 7
  FROM json_each(?1)`;

const ADD_RESTS = `
  INSERT INTO import_output_rest (key, bytes) SELECT value ->> 0, value ->> 1 FROM json_each(?1)`;

/** Undone by the table's CHECK unless all outputs to remove are there, each named once. */
const REQUIRE_OUTPUTS = `
  INSERT INTO import_progress (one, identity, position) SELECT 2, '', 0
  WHERE (SELECT count(*) FROM import_output WHERE id IN (SELECT value FROM json_each(?1)))
    <> json_array_length(?1)`;

/** Removes details of removed outputs before their rows in import_output, which have the time. */
const REMOVE_DETAILS = `
  DELETE FROM import_output_detail WHERE (kind, created_time, output) IN (
    SELECT ${outputTypeSql('bytes')}, created_time, unhex(id) FROM import_output
    WHERE id IN (SELECT value FROM json_each(?1)))`;

/** Removes rests before these rows too: they have the keys. */
const REMOVE_RESTS = `
  DELETE FROM import_output_rest WHERE key IN (
    SELECT rest FROM import_output WHERE id IN (SELECT value FROM json_each(?1)))`;

const REMOVE_OUTPUTS = 'DELETE FROM import_output WHERE id IN (SELECT value FROM json_each(?1))';

const KEEP_MILESTONE = `
  UPDATE import_progress SET milestone = ?1, payload = ?2
  WHERE milestone IS NULL OR milestone < ?1`;

const SELECT_KNOWN = 'SELECT o.id FROM json_each(?1) j JOIN import_output o ON o.id = j.value';

/** Rows that one statement looks at: a fraction of a second, of the 30 that D1 allows. */
const STRETCH = 50_000;

/**
 * Type and amount of each output (A.8) of the stretch behind the ID ?1: 9 bytes, which are 12
 * characters of base64. And the fingerprint and the last ID of the stretch.
 */
const SELECT_AMOUNTS = `
  SELECT group_concat(start, '') AS amounts, ${fingerprintSql('sum')} AS sum, max(id) AS last FROM (
    SELECT id, sum, substr(bytes, 1, 12) AS start FROM import_output
    WHERE id > ?1 ORDER BY id LIMIT ${STRETCH})`;

const PLACE_NFTS = `INSERT INTO import_nft ${selectNfts('id > ?1 AND id <= ?2')}`;

const SELECT_TWINS = `
  SELECT chain FROM import_output WHERE chain IS NOT NULL
  GROUP BY chain HAVING count(*) > 1 LIMIT 1`;

/** The payload of the ledger's milestone, where the files have it. */
const COPY_PAYLOAD = `
  UPDATE import_milestone
  SET payload = (SELECT p.payload FROM import_progress p WHERE p.milestone = idx)`;

/** The milestone, and solid entry points: referenced, but no block is number 0. */
const INSERT_ENTRIES = `
  INSERT INTO import_id_0 (id, milestone, block, sum)
  SELECT value, ?2, 0, ?2 FROM json_each(?1)`;

/** Outputs with IDs behind the one and up to the other; together, all. */
type Stretch = [after: string, upTo: string];

export class StagingSink implements LedgerSink {
  readonly #db: Database;
  readonly #indexAll: boolean;
  #script: StagingScript | undefined;
  #identity = '';
  #position = 0;

  /** @param indexAll whether the lists have every kind of output, or NFTs alone */
  constructor(db: Database, indexAll = false) {
    this.#db = db;
    this.#indexAll = indexAll;
  }

  async begin(files: string): Promise<number> {
    const db = this.#db;
    const script = await readStagingScript(db);
    // what was staged under other definitions, or with other sums, is of no use
    this.#identity = JSON.stringify([SCHEMA, files, this.#indexAll, ...script.create]);
    this.#script = script;
    const found = await readAlone(first(db.prepare(HAS_PROGRESS), () => true));
    const progress = found ? await this.#readProgress() : undefined;
    if (progress?.identity === this.#identity) {
      this.#position = progress.position;
    } else {
      const fresh = [...script.drop, ...script.create].map((sql) => db.prepare(sql));
      await runBatch(db, [...fresh, db.prepare(INSERT_PROGRESS).bind(this.#identity)]);
    }
    return this.#position;
  }

  #readProgress(): Promise<{ identity: string; position: number } | undefined> {
    const progress = first(this.#db.prepare(SELECT_PROGRESS), (row) => ({
      identity: row.text('identity'),
      position: row.integer('position'),
    }));
    return readAlone(progress);
  }

  async apply({ add, remove, milestones, position }: LedgerChange): Promise<void> {
    const db = this.#db;
    const contents = add.map(({ bytes }) => splitContents(writeOutputBytes(bytes)));
    // each output takes a position of its own, behind those that are applied
    const keyOf = (i: number) => REST_KEYS.from + REST_KEYS.step * (this.#position + 1 + i);
    const rests = contents.flatMap(({ rest }, i) =>
      rest === undefined ? [] : [[keyOf(i), rest] as const],
    );
    const added = add.map(({ outputId, chainId, blockId, bookedIndex, bookedTimestamp }, i) => {
      const cells = [toHexDigits(outputId), toHexDigits(blockId), bookedIndex, bookedTimestamp];
      const chain = chainId ? toHexDigits(chainId) : null;
      const { start, rest } = contents[i]!;
      const key = rest === undefined ? null : keyOf(i);
      return [...cells, rowSum([...cells, chain]), start, chain, key];
    });
    const listed = add.filter(({ value }) => this.#indexAll || value.type === OutputType.Nft);
    const details = listed.map(({ outputId, value, bookedTimestamp }) =>
      listRow(value, toHexDigits(outputId), bookedTimestamp),
    );
    const removed = remove.map(toHexDigits);
    try {
      await runBatch(db, [
        this.#moveTo(position),
        ...forEachPiece(db, ADD_OUTPUTS, added),
        ...forEachPiece(db, ADD_RESTS, rests),
        ...insertListRows(db, details, stagingName('output_detail')),
        ...forEachPiece(db, REQUIRE_OUTPUTS, removed),
        ...forEachPiece(db, REMOVE_DETAILS, removed),
        ...forEachPiece(db, REMOVE_RESTS, removed),
        ...forEachPiece(db, REMOVE_OUTPUTS, removed),
        ...milestones.map(({ index, payload }) =>
          db.prepare(KEEP_MILESTONE).bind(index, writeOutputBytes(payload)),
        ),
      ]);
    } catch (error) {
      if (error instanceof Error && /constraint failed/i.test(error.message))
        await this.#explain({ add, remove });
      throw error;
    }
    this.#position = position;
  }

  #moveTo(position: number): D1PreparedStatement {
    return this.#db.prepare(MOVE_ON).bind(this.#position, this.#identity, position);
  }

  /** Throws the reason for which a change did not go in, if it is the files'. */
  async #explain({ add, remove }: Pick<LedgerChange, 'add' | 'remove'>): Promise<void> {
    const progress = await this.#readProgress();
    if (progress?.identity !== this.#identity || progress.position !== this.#position)
      throw new Error('another import into this database is under way');
    const present = await this.#findKnown(add.map(({ outputId }) => outputId));
    for (const { outputId } of add) {
      const id = toHexDigits(outputId);
      if (present.has(id))
        throw refusal('1.4', `output ${toHex(outputId)} is added again, here or shortly before`);
      present.add(id);
    }
    for (const id of await this.#findKnown(remove)) present.add(id);
    const missing = remove.find((id) => !present.delete(toHexDigits(id)));
    if (missing)
      throw refusal(
        '1.5',
        `output ${toHex(missing)} is removed, here or shortly before, and was not there`,
      );
  }

  async #findKnown(ids: readonly Uint8Array[]): Promise<Set<string>> {
    const pieces = forEachPiece(this.#db, SELECT_KNOWN, ids.map(toHexDigits));
    const known = many(pieces, (row) => row.text('id'));
    return new Set(await readQuery(this.#db, known));
  }

  /**
   * Adds all else that the ledger is made of. Throws a StardustError if the outputs are not the
   * token supply, or two of them are the same NFT.
   */
  async complete(summary: SnapshotSummary, generation: string, sha256 = ''): Promise<void> {
    const { stretches, fingerprint } = await this.#checkSupply(summary);
    await this.#requireNoTwins();
    await this.#placeNfts(stretches);
    const db = this.#db;
    const { genesisIndex, ledgerIndex, timestamp, treasury, parameters } = summary;
    const milestoneId = toHexDigits(summary.milestoneId);
    const entry = milestoneEntry(milestoneId);
    // a file may name one twice, as the reference takes it
    const entries = [...new Set([...summary.solidEntryPoints.map(toHexDigits), entry])];
    const idTables = [{ table: 0, first: ledgerIndex }];
    const fingerprints = moveFingerprints({
      fingerprints: {
        output: fingerprint,
        [idTableName(idTables[0]!)]: addSums(...entries.map((id) => entrySum(id, ledgerIndex))),
        parameters: 0,
        receipt: 0,
      },
      smallAt: ledgerIndex,
    });
    const kept = parameters.map((option) =>
      insertParameters(db, fingerprints, option, stagingName('parameters')),
    );
    const head: Head = {
      generation,
      genesis: genesisIndex,
      start: ledgerIndex,
      snapshot: sha256,
      ledger: ledgerIndex,
      treasury: { milestoneId: toHexDigits(treasury.milestoneId), amount: treasury.amount },
      nextBlock: 1,
      // positions up to this one made keys in output_rest
      nextOutput: this.#position + 1,
      unreferenced: 0,
      dropped: 0,
      idTables,
      forgotten: ledgerIndex - 1,
      indexed: this.#indexAll ? ALL_INDEXED : '',
      history: 0,
      integrity: fingerprints.moved(),
    };
    // those before it are left out: their states cannot be asked for
    const milestone = {
      index: ledgerIndex,
      id: milestoneId,
      timestamp,
      blocks: 0,
      payload: null,
      nftChanges: 0,
    };
    await runBatch(db, [
      this.#moveTo(this.#position),
      ...SMALL_TABLES.map((name) => db.prepare(`DELETE FROM ${stagingName(name)}`)),
      insertHead(db, head, stagingName('head')),
      insertMilestone(db, milestone, stagingName('milestone')),
      db.prepare(COPY_PAYLOAD),
      ...forEachPiece(db, INSERT_ENTRIES, entries, ledgerIndex),
      ...kept,
    ]);
  }

  /**
   * Compares the supply as it is held. The reader counts what the files say of removed outputs,
   * which is wrong if a delta continues another network's genesis, with the same output IDs.
   */
  async #checkSupply({
    treasury,
    currentParameters: { tokenSupply },
  }: SnapshotSummary): Promise<{ stretches: Stretch[]; fingerprint: number }> {
    let held = 0n;
    let fingerprint = 0;
    const stretches: Stretch[] = [];
    for (let after = ''; ; ) {
      const stretch = one(this.#db.prepare(SELECT_AMOUNTS).bind(after), (row) => ({
        amounts: row.textOrNull('amounts'),
        sum: row.integerOrNull('sum'),
        last: row.textOrNull('last'),
      }));
      const { amounts, sum, last } = await readAlone(stretch);
      if (last === null) break;
      fingerprint = addSums(fingerprint, sum ?? 0);
      const reader = new Reader(fromBase64(amounts ?? ''));
      while (reader.remaining > 0) {
        reader.u8();
        held += reader.u64();
      }
      stretches.push([after, last]);
      after = last;
    }
    if (BigInt.asUintN(64, held + treasury.amount) !== tokenSupply) {
      const sum = `the outputs hold ${held} base tokens, the treasury ${treasury.amount}`;
      throw refusal('E.5', `${sum}: together not the token supply of ${tokenSupply}`);
    }
    return { stretches, fingerprint };
  }

  async #placeNfts(stretches: readonly Stretch[]): Promise<void> {
    const db = this.#db;
    await db.prepare('DELETE FROM import_nft').run();
    const place = db.prepare(PLACE_NFTS);
    for (const stretch of stretches) await place.bind(...stretch).run();
  }

  async #requireNoTwins(): Promise<void> {
    const twin = await readAlone(first(this.#db.prepare(SELECT_TWINS), (row) => row.text('chain')));
    if (twin !== undefined) throw refusal('E.5', `two unspent outputs have the ID 0x${twin}`);
  }

  /** Replaces the served ledger by the staged one, which is complete: all of it or nothing. */
  async replace(): Promise<void> {
    // another command may have migrated the tables, which the swap makes again
    const { create, migrations, swap } = await readStagingScript(this.#db);
    if (String([create, migrations]) !== String([this.#script!.create, this.#script!.migrations]))
      throw new Error('the tables were migrated meanwhile: give the same command again');
    const statements = swap.map((sql) => this.#db.prepare(sql));
    await runBatch(this.#db, [this.#moveTo(this.#position), ...statements]);
  }

  async drop(): Promise<void> {
    const drop = (this.#script?.drop ?? []).map((sql) => this.#db.prepare(sql));
    await runBatch(this.#db, drop);
  }
}
