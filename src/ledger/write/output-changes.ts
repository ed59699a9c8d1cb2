/**
 * Changes of outputs and NFTs by a milestone. Contents move within D1: statements name outputs by
 * their place: a pack, a block of it, and an output of its transaction, inputs first.
 */
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { OutputType } from '../../stardust/wire/output.ts';
import type { MigratedOutput } from '../../stardust/wire/receipt.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import { type Database, forEachPiece, jsonPieces } from '../core/database.ts';
import {
  isNftSql,
  outputTypeSql,
  REST_KEYS,
  splitContentsSql,
  writeOutputBytes,
} from '../core/output-bytes.ts';
import { concat, many, type Row, readQuery } from '../core/read-batch.ts';
import { type FingerprintMover, rowSum, summedColumns } from '../core/row-sum.ts';
import {
  insertDetails,
  insertListRows,
  listRow,
  packedKind,
  unpackedColumns,
} from '../output-list/list-rows.ts';
import { blockSql, outputSql, requireChainSum, requireOutputSum } from '../packs/id-rows.ts';
import { spentIn, spentSql } from '../packs/milestone-part.ts';
import { atPlaces, elementSql } from '../packs/places.ts';

/**
 * Rows by which statements name outputs, made when they are wanted: a milestone may spend 100,000
 * outputs, and an array for each would take 20 MB.
 */
export interface OutputRows {
  readonly length: number;
  rowAt(i: number): readonly (number | null)[];
}

/**
 * Outputs and NFTs that a milestone changes. The place of an output is the key of a pack, the
 * position of a block in it, and the place among the block's outputs.
 */
export interface OutputChanges {
  /**
   * Outputs in the order in which they are spent, each with the place of the input that spends it;
   * `made`, the index of the spender's first output, whose ID begins with the transaction's; and
   * the place where this milestone creates it, else three NULLs.
   */
  spent: OutputRows;
  /** Places of all outputs that the milestone creates. */
  createdAll: OutputRows;
  /** Places of outputs that are unspent at the end of the milestone and were not there before. */
  created: OutputRows;
  migrated: readonly MigratedOutput[];
}

/** Facts about contents that stay in D1. */
export interface ReadChanges {
  /** Output of each NFT that came, moved or went: null if it was burned. Hex IDs. */
  nfts: Map<string, string | null>;
  /** Whether outputs of NFTs go. */
  spendsNfts: boolean;
}

/** Outputs that one statement names: as many packs may have to be read for it. */
const NAMED_AT_ONCE = 2000;

const READ_AT_ONCE = 8;

/**
 * ?1: a row for each spent output: place of the input that spends it (pack, slot, i); `made`, index
 * of the spender's first output; place where this milestone creates it, or three NULLs. Each with
 * the output as the spending block mentions it, and as its own block does, with its content.
 */
const SPENT = `
  place AS MATERIALIZED (
    SELECT key AS n, value ->> 0 AS pack, value ->> 1 AS at, value ->> 2 AS i, value ->> 3 AS made,
      value ->> 4 AS home, value ->> 5 AS home_at, value ->> 6 AS home_i
    FROM json_each(?1)),
  made_here AS MATERIALIZED (
    SELECT home AS pack, home_at AS at FROM place WHERE home IS NOT NULL),
  mention AS MATERIALIZED (
    ${atPlaces('mentions', 'SELECT pack, at FROM place UNION ALL SELECT pack, at FROM made_here')}),
  content AS MATERIALIZED (${atPlaces('contents', 'SELECT pack, at FROM made_here')}),
  spent AS MATERIALIZED (
    SELECT p.n, p.home, p.home_at, m.value -> p.i AS output, m.value -> p.made AS made,
      c.value -> p.home_i AS created, k.value ->> p.home_i AS bytes
    FROM place p
      LEFT JOIN mention m ON m.pack = p.pack AND m.at = p.at
      LEFT JOIN mention c ON c.pack = p.home AND c.at = p.home_at
      LEFT JOIN content k ON k.pack = p.home AND k.at = p.home_at)`;

/** SQL of what {@link idFromRow} compares: what is written with an ID has a sum made of its own. */
const mentioned = (row: string) =>
  `${outputSql.number(row)} AS number, ${outputSql.id(row)} AS id, ${outputSql.sum(row)} AS own_sum`;

function idFromRow(row: Row): string {
  const id = row.text('id');
  requireOutputSum(row.integer('number'), id, row.integer('own_sum'));
  return id;
}

/** Contents that are spent: of the ledger, or of a block that the milestone references too. */
const READ_SPENT = `
  WITH ${SPENT}
  SELECT ${isNftSql('coalesce(o.bytes, s.bytes)')} AS is_nft,
    iif(s.home IS NULL, o.chain, ${outputSql.chain('s.created')}) AS chain,
    ${outputSql.chainSum('s.created')} AS chain_sum,
    (SELECT n.output FROM nft n WHERE n.id = o.chain) AS held,
    ${mentioned('s.output')}, ${summedColumns('output', 'o', 'o_')},
    ${outputSql.idSum('s.output')} AS id_sum
  FROM spent s LEFT JOIN output o ON s.home IS NULL AND o.id = ${outputSql.id('s.output')}
  ORDER BY s.n`;

const SPLIT = splitContentsSql('c.content');

/** SQL of the key in output_rest of an output as a block mentions it. */
const restKey = (row: string) => `${REST_KEYS.from} + ${REST_KEYS.step} * ${outputSql.number(row)}`;

const PLACE = `
  place AS MATERIALIZED (
    SELECT value ->> 0 AS pack, value ->> 1 AS at, value ->> 2 AS i FROM json_each(?1))`;

/** The places ?1, with what that column has of each output. */
const comeWith = (column: 'contents' | 'details') => `
  ${PLACE},
  mention AS MATERIALIZED (${atPlaces('mentions', 'SELECT pack, at FROM place')}),
  content AS MATERIALIZED (${atPlaces(column, 'SELECT pack, at FROM place')}),
  come AS MATERIALIZED (
    SELECT p.pack, p.at, p.i, m.value -> p.i AS output, k.value ->> p.i AS content
    FROM place p
      LEFT JOIN mention m ON m.pack = p.pack AND m.at = p.at
      LEFT JOIN content k ON k.pack = p.pack AND k.at = p.at)`;

/** SQL of the sum of a row that is inserted with the milestone's index ?2 and timestamp ?3. */
const CREATED_SUM = `${outputSql.idSum('c.output')} + ${outputSql.chainSum('c.output')} + ${blockSql.idSum('b.value')} + ?2 + ?3`;

/** Facts about what comes: its sum, and the NFT that it is, by its details and by its contents. */
const READ_CREATED = `
  WITH ${comeWith('details')},
    block AS MATERIALIZED (${atPlaces('blocks', 'SELECT pack, at FROM place')}),
    chained AS MATERIALIZED (
      ${atPlaces('contents', `SELECT pack, at FROM come WHERE ${outputSql.chain('output')} IS NOT NULL`)})
  SELECT ${mentioned('c.output')}, ${CREATED_SUM} AS sum,
    CASE WHEN ${packedKind('c.content')} = ${OutputType.Nft} THEN ${outputSql.chain('c.output')} END AS nft,
    ${isNftSql('k.value ->> c.i')} AS is_nft, ${outputSql.chainSum('c.output')} AS chain_sum
  FROM come c JOIN block b ON b.pack = c.pack AND b.at = c.at
    LEFT JOIN chained k ON k.pack = c.pack AND k.at = c.at`;

/**
 * Reads the facts about outputs that go and come, and moves the fingerprints by them. Throws a
 * LedgerDamaged if one is not there.
 *
 * @param timestamp of the milestone, Unix seconds
 * @param idTable name of the table that takes the IDs of those that go
 */
export async function readChanges(
  db: Database,
  { index, timestamp }: { index: number; timestamp: number },
  { spent, created, migrated }: OutputChanges,
  fingerprints: FingerprintMover,
  idTable: string,
): Promise<ReadChanges> {
  const read: ReadChanges = { nfts: new Map(), spendsNfts: false };
  let spentCount = 0;
  let missing: number | undefined;
  const noteSpent = (row: Row) => {
    const told = row.integerOrNull('is_nft');
    if (told === null) missing ??= spentCount;
    if (missing !== undefined) return;
    spentCount++;
    const id = idFromRow(row);
    // one that the milestone creates too was never in the table
    if (row.textOrNull('o_id') !== null) {
      row.requireSum('output', 'o_');
      fingerprints.move('output', id, -row.integer('o_sum'));
    }
    fingerprints.move(idTable, id, row.integer('id_sum') + index);
    const chain = row.textOrNull('chain');
    const isNft = told === 1;
    const chainSum = row.integerOrNull('chain_sum');
    if (chainSum === null) {
      // what it holds is said by its content, its chain, and the row of the NFT
      if (isNft !== (chain !== null && row.textOrNull('held') === id))
        throw new LedgerDamaged('rows of the tables output and nft');
    } else requireChainSum(chain, chainSum);
    if (!isNft) return;
    read.nfts.set(chain!, null);
    read.spendsNfts = true;
  };
  const noteCreated = (row: Row) => {
    const id = idFromRow(row);
    fingerprints.move('output', id, row.integer('sum'));
    const nft = row.textOrNull('nft');
    if ((nft !== null) !== (row.integerOrNull('is_nft') === 1))
      throw new LedgerDamaged('kinds of outputs in packs');
    if (nft === null) return;
    requireChainSum(nft, row.integer('chain_sum'));
    read.nfts.set(nft, id);
  };
  const reads = [
    ...inPieces(spent).map((piece) => many(db.prepare(READ_SPENT).bind(piece), noteSpent)),
    ...inPieces(created).map((piece) =>
      many(db.prepare(READ_CREATED).bind(piece, index, timestamp), noteCreated),
    ),
  ];
  for (const { id } of migrated) {
    const hexId = toHexDigits(id);
    fingerprints.move('output', hexId, rowSum([hexId, NO_BLOCK, index, timestamp]));
  }
  // in steps, so that few of the rows are in memory at once: the write is fenced
  for (let first = 0; first < reads.length; first += READ_AT_ONCE)
    await readQuery(db, concat(...reads.slice(first, first + READ_AT_ONCE)));
  if (missing !== undefined) {
    const home = spent.rowAt(missing)[4];
    const table = home === null ? 'output' : 'pack_content';
    throw new LedgerDamaged(`rows of the table ${table}`);
  }
  return read;
}

function inPieces(rows: OutputRows): string[] {
  return Array.from({ length: Math.ceil(rows.length / NAMED_AT_ONCE) }, (_, i) =>
    rowsAsJson(rows, i * NAMED_AT_ONCE, Math.min((i + 1) * NAMED_AT_ONCE, rows.length)),
  );
}

/** Some of the rows, as statements take them. */
export function rowsAsJson({ rowAt }: OutputRows, from: number, to: number): string {
  return JSON.stringify(Array.from({ length: to - from }, (_, i) => rowAt(from + i)));
}

const SPENT_SPLIT = splitContentsSql('s.bytes');

/** SQL of the outputs ?1 that a milestone spends, for WITH. */
export const SPENT_ROWS = `${SPENT},
  block AS MATERIALIZED (${atPlaces('blocks', 'SELECT pack, at FROM made_here')})`;

/**
 * SQL of the JSON of some of {@link SPENT_ROWS} (packs/milestone-part.ts), ?2 and ?3 the milestone's
 * index and timestamp; NULL, which the table does not take, if something is missing. Their sums are
 * made of those of the packs and of `output`. The rest of long contents stays where it is.
 *
 * @param condition SQL of which, by their index `s.n`
 */
export const selectSpentJson = (condition: string): string => `(
  SELECT CASE WHEN count(${outputSql.id('s.output')}) = count(*)
      AND count(${outputSql.id('s.made')}) = count(*)
      AND count(coalesce(s.bytes, o.bytes)) = count(*)
      AND count(coalesce(${blockSql.id('b.value')}, o.block)) = count(*)
    THEN json_group_array(json_array(${outputSql.id('s.output')}, coalesce(${SPENT_SPLIT.start}, o.bytes),
      iif(s.home IS NULL, o.chain, ${outputSql.chain('s.created')}), coalesce(${blockSql.id('b.value')}, o.block),
      coalesce(o.created, ?2), coalesce(o.created_time, ?3), ${outputSql.id('s.made')},
      coalesce(${outputSql.idSum('s.created')} + ${outputSql.chainSum('s.created')} + ${blockSql.idSum('b.value')} + ?2 + ?3, o.sum) +
        ${outputSql.idSum('s.made')},
      iif(${SPENT_SPLIT.isLong}, ${restKey('s.created')}, o.rest)) ORDER BY s.n) END
  FROM spent s
    LEFT JOIN block b ON b.pack = s.home AND b.at = s.home_at
    LEFT JOIN output o ON s.home IS NULL AND o.id = ${outputSql.id('s.output')}
  WHERE ${condition})`;

/** Deletes what a milestone whose parts were inserted spent and had not created. */
const DELETE_SPENT = `
  DELETE FROM output WHERE id IN (
    SELECT ${spentSql.id('s.value')} FROM ${spentIn('?1')} AND ${spentSql.created('s.value')} < ?1)`;

const NO_BLOCK = '0'.repeat(64);

/** Inserts outputs that have an address and nothing else: none of them is long. */
const INSERT_MIGRATED = `
  INSERT INTO output (id, bytes, chain, block, created, created_time, sum)
  SELECT value ->> 0, value ->> 1, NULL, '${NO_BLOCK}', ?2, ?3, (value ->> 2) + ?2 + ?3
  FROM json_each(?1)`;

/**
 * ?1 places, ?2 and ?3 index and timestamp. Missing data is NULL, which the table does not take.
 */
const INSERT_CREATED = `
  INSERT INTO output (id, bytes, rest, chain, block, created, created_time, sum)
  WITH ${comeWith('contents')},
    block AS MATERIALIZED (${atPlaces('blocks', 'SELECT pack, at FROM place')})
  SELECT ${outputSql.id('c.output')}, ${SPLIT.start}, CASE WHEN ${SPLIT.isLong} THEN ${restKey('c.output')} END,
    ${outputSql.chain('c.output')}, ${blockSql.id('b.value')}, ?2, ?3, ${CREATED_SUM}
  FROM come c LEFT JOIN block b ON b.pack = c.pack AND b.at = c.at`;

/**
 * ?1 places. Nearly all blocks, whose contents are short, are left out before anything is joined:
 * 0.7 ms for 1,000 transfers, where comeWith takes 3 to 5.
 */
const INSERT_RESTS = `
  INSERT INTO output_rest (key, bytes)
  WITH ${PLACE},
    block AS MATERIALIZED (
      SELECT b.* FROM (${atPlaces('contents', 'SELECT pack, at FROM place')}) b
      WHERE ${splitContentsSql('b.value').isLong}),
    come AS (
      SELECT b.value ->> p.i AS content,
        ${elementSql('mentions', 'p.pack', 'p.at', 'p.i')} AS output
      FROM block b CROSS JOIN place p ON p.pack = b.pack AND p.at = b.at)
  SELECT ${restKey('c.output')}, ${SPLIT.rest} FROM come c WHERE ${SPLIT.isLong}`;

/** ?3 whether rows of every kind are kept. A row that the pack lacks is NULL: refused. */
const INSERT_DETAILS = insertDetails(`
  WITH ${comeWith('details')}
  SELECT ?2, unhex(${outputSql.id('c.output')}), ${unpackedColumns('c.content')} FROM come c
  WHERE ?3 OR c.content IS NULL OR ${packedKind('c.content')} = ${OutputType.Nft}`);

/** Deletes like DELETE_SPENT. Rows of kinds that are not kept are not there. */
const DELETE_DETAILS = `
  DELETE FROM output_detail WHERE (kind, created_time, output) IN (
    SELECT ${outputTypeSql(spentSql.start('s.value'))}, ${spentSql.createdTime('s.value')},
      unhex(${spentSql.id('s.value')})
    FROM ${spentIn('?1')} AND ${spentSql.created('s.value')} < ?1)`;

const PLACE_NFTS = `
  INSERT INTO nft (id, output, changed)
  SELECT value ->> 0, value ->> 1, ?2 FROM json_each(?1) WHERE true
  ON CONFLICT (id) DO UPDATE SET output = excluded.output, changed = excluded.changed`;

const LOG_NFTS = 'INSERT INTO nft_change (milestone, part, nfts) VALUES (?1, ?2, ?3)';

/**
 * Makes statements that change them, behind those that insert the milestone's parts.
 *
 * @param indexesAll whether lists have every kind of output
 */
export function changeOutputs(
  db: Database,
  { index, timestamp }: { index: number; timestamp: number },
  { createdAll, created, migrated }: OutputChanges,
  { nfts, spendsNfts }: ReadChanges,
  indexesAll: boolean,
): D1PreparedStatement[] {
  const pieces = inPieces(created);
  const hasNfts = [...nfts.values()].some((output) => output !== null);
  const migratedCells = migrated.map(({ id, bytes }) => {
    const hexId = toHexDigits(id);
    return [hexId, writeOutputBytes(bytes), rowSum([hexId, NO_BLOCK])];
  });
  const migratedRows = migrated.map(({ id, output }) =>
    listRow(output, toHexDigits(id), timestamp),
  );
  return [
    db.prepare(DELETE_SPENT).bind(index),
    ...forEachPiece(db, INSERT_MIGRATED, migratedCells, index, timestamp),
    ...pieces.map((piece) => db.prepare(INSERT_CREATED).bind(piece, index, timestamp)),
    ...inPieces(createdAll).map((piece) => db.prepare(INSERT_RESTS).bind(piece)),
    ...forEachPiece(db, PLACE_NFTS, nfts, index),
    ...(indexesAll || spendsNfts ? [db.prepare(DELETE_DETAILS).bind(index)] : []),
    ...(indexesAll || hasNfts
      ? pieces.map((piece) => db.prepare(INSERT_DETAILS).bind(piece, timestamp, indexesAll ? 1 : 0))
      : []),
    ...(indexesAll ? insertListRows(db, migratedRows) : []),
    ...Array.from(jsonPieces([...nfts.keys()].sort()), (piece, part) =>
      db.prepare(LOG_NFTS).bind(index, part, piece),
    ),
  ];
}
