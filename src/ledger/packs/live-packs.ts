/**
 * Reads of the live packs: those with a block that no milestone references. They may also have
 * blocks that milestones reference, as `statuses` says.
 */
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { requireChecksum } from '../core/checksum.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import { readOutputBytes } from '../core/output-bytes.ts';
import { first, many, one, type Query, type Row } from '../core/read-batch.ts';
import {
  type BlockRow,
  blockSql,
  type OutputRow,
  outputSql,
  readBlockRows,
  requireOutputSum,
} from './id-rows.ts';
import {
  type PackChecksums,
  readChecksums,
  STATUS_LENGTH,
  type Statuses,
  statusesFromRow,
  WALKED_COLUMNS,
  type WalkedPack,
  walkedPackFromRow,
} from './pack-columns.ts';
import { elementSql } from './places.ts';

/** ?1 IDs, ?2 whether bytes are wanted. Where the IDs are few, no row of a pack that has none is read. */
const SELECT_NAMED = `
  SELECT p.key, p.statuses, p.sums, b.key AS at, ${blockSql.id('b.value')} AS id,
    CASE WHEN ?2 THEN ${elementSql('bytes', 'p.key', 'b.key')} END AS bytes
  FROM pack p CROSS JOIN json_each(p.blocks) b
  WHERE p.live = 1 AND p.staged IS NULL AND (json_array_length(?1) > 3
      OR EXISTS (SELECT 1 FROM json_each(?1) w WHERE instr(p.blocks, w.value) > 0))
    AND ${blockSql.id('b.value')} IN (SELECT value FROM json_each(?1))`;

/** Hex IDs and bytes, if these are wanted, of those of the blocks that are visible and unreferenced. */
export function findVisible(
  db: Database,
  ids: readonly string[],
  withBytes = false,
): Query<{ id: string; bytes: Uint8Array | null }[]> {
  const statement = db.prepare(SELECT_NAMED).bind(JSON.stringify(ids), withBytes ? 1 : 0);
  const found = many(ids.length === 0 ? [] : statement, (row) =>
    statusesFromRow(row).milestoneAt(row.integer('at')) === 0
      ? [{ id: row.text('id'), bytes: withBytes ? fromBase64(row.text('bytes')) : null }]
      : [],
  );
  return { statements: found.statements, read: (results) => found.read(results).flat() };
}

const SELECT_NEWEST = `
  SELECT ${WALKED_COLUMNS}, p.blocks FROM pack p WHERE p.live = 1 AND p.staged IS NULL
  ORDER BY p.key DESC LIMIT ?1`;

/** The newest packs that requests may see, the newest first. */
export function selectNewest(
  db: Database,
  most: number,
): Query<(WalkedPack & { blocks: BlockRow[] })[]> {
  return many(db.prepare(SELECT_NEWEST).bind(most), (row) => ({
    ...walkedPackFromRow(row),
    blocks: readBlockRows(row.text('blocks')),
  }));
}

/** Characters of an output in `outputs`, at least. */
const MENTION_LENGTH = 85;

const SELECT_EXTENT = `
  SELECT min(p.stored_at) AS oldest, coalesce(sum(octet_length(p.statuses)), 0) / ${STATUS_LENGTH} AS blocks,
    coalesce(sum(octet_length(c.bytes) + octet_length(c.outputs)), 0) AS bytes,
    coalesce(sum(octet_length(p.outputs)), 0) / ${MENTION_LENGTH} AS mentions
  FROM pack p JOIN pack_content c ON c.key = p.key WHERE p.live = 1`;

export interface LiveExtent {
  /** Ledger index when the oldest pack was begun; null where there is none. */
  oldest: number | null;
  blocks: number;
  /** Bytes in D1. */
  bytes: number;
  /** Outputs that their transactions consume or create. */
  mentions: number;
}

export function selectExtent(db: Database): Query<LiveExtent> {
  return one(db.prepare(SELECT_EXTENT), (row) => ({
    oldest: row.integerOrNull('oldest'),
    blocks: row.integer('blocks'),
    bytes: row.integer('bytes'),
    mentions: row.integer('mentions'),
  }));
}

/** Packs whose IDs are read at once: up to 600 KB each, most of it outputs. */
export const IDS_PAGE = 16;

/** Slots of blocks in the JSON stay aligned with the statuses. */
const SELECT_IDS = `
  SELECT p.key, p.staged, p.statuses, p.sums, p.blocks,
    (SELECT json_group_array(json_array(b.key, ${outputSql.number('e.value')},
        ${outputSql.id('e.value')}, ${outputSql.sum('e.value')}, ${outputSql.isCreated('e.value')}))
      FROM json_each(p.outputs) b CROSS JOIN json_each(b.value) e) AS outputs
  FROM pack p WHERE p.live = 1 AND p.key > ?1 ORDER BY p.key LIMIT ${IDS_PAGE}`;

export interface PackIds {
  key: number;
  staged: number | null;
  statuses: Statuses;
  blocks: BlockRow[];
  outputs: [at: number, number: number, id: string, sum: number, isCreated: number][];
}

/** IDs of the next packs, {@link IDS_PAGE} of them at most, those that are staged too. */
export function selectPackIds(db: Database, after: number): Query<PackIds[]> {
  return many(db.prepare(SELECT_IDS).bind(after), (row) => {
    const outputs: PackIds['outputs'] = JSON.parse(row.text('outputs'));
    for (const [, number, id, sum] of outputs) requireOutputSum(number, id, sum);
    return {
      key: row.integer('key'),
      staged: row.integerOrNull('staged'),
      statuses: statusesFromRow(row),
      blocks: readBlockRows(row.text('blocks')),
      outputs,
    };
  });
}

const SELECT_LAST = `
  SELECT p.key, octet_length(p.statuses) / ${STATUS_LENGTH} AS blocks, p.sums,
    octet_length(p.records) + octet_length(p.states) + octet_length(p.blocks) +
      octet_length(p.outputs) + octet_length(c.bytes) + octet_length(c.outputs) +
      octet_length(c.details) AS length
  FROM pack p JOIN pack_content c ON c.key = p.key
  WHERE p.live = 1 AND p.staged IS ?1 ORDER BY p.key DESC LIMIT 1`;

/** A pack that blocks can be appended to. */
export interface LastPack {
  key: number;
  blocks: number;
  /** Characters. */
  length: number;
  sums: PackChecksums;
}

/** The pack that was begun last. `staged`: the milestone of staged packs, null for visible ones. */
export function selectLast(db: Database, staged: number | null): Query<LastPack | undefined> {
  return first(db.prepare(SELECT_LAST).bind(staged), (row) => ({
    key: row.integer('key'),
    blocks: row.integer('blocks'),
    length: row.integer('length'),
    sums: readChecksums(row.text('sums')),
  }));
}

/**
 * Packs whose `unresolved` is read at once. Each names up to 4,200 outputs (300 KB), as many as fit
 * into a pack; 4 of them are some 17,000 lookups, 0.2 s.
 */
const WAITING_AT_ONCE = 4;

/** SQL of a pack's `unresolved`. It only finds packs: where it is damaged, no upkeep waits for it. */
export const UNRESOLVED = "iif(json_valid(unresolved), json(unresolved), '[]')";

const SELECT_WAITING = `
  SELECT key, ${UNRESOLVED} AS unresolved FROM pack
  WHERE live = 1 AND unresolved <> '[]' AND key > ?1 ORDER BY key LIMIT ${WAITING_AT_ONCE}`;

/** The next packs with transactions without a verdict, and hex IDs of outputs that these wait for. */
export function selectWaiting(
  db: Database,
  after: number,
): Query<{ key: number; unresolved: string[] }[]> {
  return many(db.prepare(SELECT_WAITING).bind(after), (row) => ({
    key: row.integer('key'),
    unresolved: JSON.parse(row.text('unresolved')),
  }));
}

const SELECT_UNRESOLVED = `
  SELECT key, records, sums, outputs, ${UNRESOLVED} AS unresolved FROM pack WHERE key = ?1`;

export interface UnresolvedPack {
  key: number;
  records: Uint8Array;
  sums: PackChecksums;
  outputs: OutputRow[][];
  unresolved: Set<string>;
}

export function selectUnresolved(db: Database, key: number): Query<UnresolvedPack | undefined> {
  return first(db.prepare(SELECT_UNRESOLVED).bind(key), (row) => {
    const records = fromBase64(row.text('records'));
    const sums = readChecksums(row.text('sums'));
    requireChecksum(records, sums.records, `records of pack ${key}`);
    const outputs = JSON.parse(row.text('outputs'));
    return { key, records, sums, outputs, unresolved: new Set(JSON.parse(row.text('unresolved'))) };
  });
}

/** An output that a block of a live pack mentions: consumes or creates. */
export interface MentionedOutput {
  id: string;
  /** Content, if the block creates the output. */
  bytes?: Uint8Array;
  /** The block's place, and the number that it uses for the output. */
  mention: { number: number; key: number; at: number };
}

const MENTION_COLUMNS = `
  ${outputSql.id('e.value')} AS id, ${outputSql.number('e.value')} AS number,
  ${outputSql.sum('e.value')} AS sum, p.key, b.key AS at,
  ${elementSql('contents', 'p.key', 'b.key', 'e.key')} AS bytes`;

/** Only an unreferenced block says which number an output has now. */
const FIND_MENTIONED = `
  SELECT ${MENTION_COLUMNS}
  FROM pack p CROSS JOIN json_each(p.outputs) b CROSS JOIN json_each(b.value) e
  WHERE p.live = 1 AND ${outputSql.id('e.value')} IN (SELECT value FROM json_each(?1))`;

/** SQL of the key of the live pack with the block of a row of `wanted`, if it is one of these. */
const packOf = (staged: string) => `(
  SELECT p.key FROM pack p WHERE p.live = 1 AND p.staged ${staged} AND p.key <= w.block
  ORDER BY p.key DESC LIMIT 1)`;

/** ?1 rows [output ID, number of the block that creates it]: only the packs of these are searched. */
const FIND_CREATED = `
  WITH wanted(id, block) AS MATERIALIZED (SELECT value ->> 0, value ->> 1 FROM json_each(?1)),
    home(key) AS MATERIALIZED (
      SELECT ${packOf('IS NULL')} FROM wanted w
      UNION SELECT ${packOf('= (SELECT ledger + 1 FROM head)')} FROM wanted w)
  SELECT ${MENTION_COLUMNS}
  FROM home h CROSS JOIN pack p ON p.key = h.key CROSS JOIN json_each(p.outputs) b
    CROSS JOIN json_each(b.value) e
  WHERE ${outputSql.id('e.value')} IN (SELECT id FROM wanted)`;

/** Finds outputs with these hex IDs that blocks of live packs mention. */
export const findMentioned = (db: Database, ids: readonly string[]) =>
  many(forEachPiece(db, FIND_MENTIONED, ids), mentionFromRow);

/** Finds outputs that unreferenced blocks create, by hex ID and the block's number. */
export const findCreated = (db: Database, outputs: readonly [id: string, block: number][]) =>
  many(forEachPiece(db, FIND_CREATED, outputs), mentionFromRow);

function mentionFromRow(row: Row): MentionedOutput {
  const id = row.text('id');
  const bytes = row.textOrNull('bytes');
  const number = row.integer('number');
  requireOutputSum(number, id, row.integer('sum'));
  return {
    id,
    ...(bytes !== null && { bytes: readOutputBytes(bytes, id) }),
    mention: { number, key: row.integer('key'), at: row.integer('at') },
  };
}
