/**
 * Writes packs, and is the only file that does. Each function returns statements for a batch of its
 * caller; they fail where `sums` is not as the caller read it ({@link replaceChecksums}).
 */
import { toBase64 } from '../../stardust/encoding/base64.ts';
import { concatBytes } from '../../stardust/encoding/bytes.ts';
import { inputsAt } from '../../stardust/white-flag/cone.ts';
import { checksum } from '../core/checksum.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import { many, type Query } from '../core/read-batch.ts';
import { outputSql } from './id-rows.ts';
import { type LastPack, UNRESOLVED, type UnresolvedPack } from './live-packs.ts';
import type { NextNumbers } from './next-numbers.ts';
import {
  type PackChecksums,
  readStateMap,
  replaceChecksums,
  splitIntoParts,
  writeChecksums,
  writeStates,
  writeStatuses,
} from './pack-columns.ts';
import type { RecordCone } from './record-cone.ts';
import type { ViewedPack } from './viewed-packs.ts';

/** Blocks as they go into a pack. */
export interface PackColumns {
  records: Uint8Array;
  statuses: Uint8Array;
  states: Uint8Array;
  /** Hex IDs of outputs that blocks without a verdict wait for. */
  unresolved: readonly string[];
  /** JSON, as are the columns of `content`. */
  blocks: string;
  outputs: string;
  content: [bytes: string, outputs: string, details: string];
}

const INSERT_PACK = `
  INSERT INTO pack (key, live, staged, stored_at, last_milestone, next_block, next_output, sums,
    records, statuses, states, unresolved, blocks, outputs)
  VALUES (?1, 1, ?2, (SELECT ledger FROM head), 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`;

const INSERT_CONTENT = `
  INSERT INTO pack_content (key, bytes, outputs, details) VALUES (?1, ?2, ?3, ?4)`;

/**
 * @param key number of the first block
 * @param next free numbers behind all blocks that the batch stores
 * @param staged the milestone that the blocks are staged for
 */
export function insertPack(
  db: Database,
  key: number,
  columns: PackColumns,
  next: NextNumbers,
  staged: number | null,
): D1PreparedStatement[] {
  const { nextBlock, nextOutput } = next;
  return [
    db
      .prepare(INSERT_PACK)
      .bind(key, staged, nextBlock, nextOutput, ...boundColumns(columns, next)),
    db.prepare(INSERT_CONTENT).bind(key, ...columns.content),
  ];
}

/** SQL of two JSON arrays in one, neither of them empty. */
const joined = (column: string, parameter: string) =>
  `substr(${column}, 1, length(${column}) - 1) || ',' || substr(${parameter}, 2)`;

const APPEND_TO_PACK = `
  UPDATE pack SET next_block = ?2, next_output = ?3, sums = ${replaceChecksums('?4', '?5')},
    records = records || ?6, statuses = statuses || ?7, states = states || ?8,
    unresolved = CASE WHEN ?9 = '[]' THEN unresolved WHEN unresolved = '[]' THEN ?9
      ELSE ${joined('unresolved', '?9')} END,
    blocks = ${joined('blocks', '?10')}, outputs = ${joined('outputs', '?11')}
  WHERE key = ?1`;

const APPEND_CONTENT = `
  UPDATE pack_content SET bytes = ${joined('bytes', '?2')}, outputs = ${joined('outputs', '?3')},
    details = ${joined('details', '?4')}
  WHERE key = ?1`;

/** Appends blocks as strings: the pack is not read. */
export function appendToPack(
  db: Database,
  { key, sums }: LastPack,
  columns: PackColumns,
  next: NextNumbers,
): D1PreparedStatement[] {
  const { nextBlock, nextOutput } = next;
  const bound = [writeChecksums(sums), ...boundColumns(columns, next, sums)];
  return [
    db.prepare(APPEND_TO_PACK).bind(key, nextBlock, nextOutput, ...bound),
    db.prepare(APPEND_CONTENT).bind(key, ...columns.content),
  ];
}

/** @param before checksums of what the columns follow */
function boundColumns(
  { records, statuses, states, unresolved, blocks, outputs }: PackColumns,
  { nextBlock, nextOutput }: NextNumbers,
  before?: PackChecksums,
): string[] {
  const sums = {
    records: checksum(records, before?.records),
    statuses: checksum(statuses, before?.statuses),
    states: checksum(states, before?.states),
    next: nextBlock - nextOutput,
  };
  const walked = [records, statuses, states].map(toBase64);
  return [writeChecksums(sums), ...walked, JSON.stringify(unresolved), blocks, outputs];
}

/** The checksums with those of the columns that change. */
function sumsAfter(
  before: PackChecksums,
  changed: Partial<Record<'records' | 'statuses' | 'states', Uint8Array>>,
): string {
  const sums = Object.entries(changed).map(([column, bytes]) => [column, checksum(bytes)]);
  return writeChecksums({ ...before, ...Object.fromEntries(sums) });
}

/** A pack that a milestone changes. */
export interface ChangedPack {
  pack: ViewedPack;
  isLive: boolean;
  isReferenced: boolean;
  statuses: Uint8Array;
  /** Absent where they stay as they are. */
  states?: Uint8Array;
}

/**
 * ?1 rows of: key, live, the milestone if it references a block of the pack, else 0, statuses,
 * states, checksums after and before. One statement for up to 1 MB of them, some 400 packs: D1 runs
 * 1,000 statements in an invocation.
 */
const UPDATE_PACKS = `
  UPDATE pack SET live = v.live, staged = NULL, last_milestone = max(last_milestone, v.milestone),
    statuses = v.statuses, states = v.states, sums = ${replaceChecksums('v.before', 'v.after')}
  FROM (
    SELECT value ->> 0 AS key, value ->> 1 AS live, value ->> 2 AS milestone,
      value ->> 3 AS statuses, value ->> 4 AS states, value ->> 5 AS after, value ->> 6 AS before
    FROM json_each(?1)) v
  WHERE pack.key = v.key`;

/** @param milestone its index */
export function updatePacks(
  db: Database,
  milestone: number,
  packs: readonly ChangedPack[],
): D1PreparedStatement[] {
  const rows = packs.map(({ pack, isLive, isReferenced, statuses, states }) => [
    pack.key,
    Number(isLive),
    isReferenced ? milestone : 0,
    toBase64(statuses),
    toBase64(states ?? pack.states),
    sumsAfter(pack.sums, { statuses, ...(states && { states }) }),
    writeChecksums(pack.sums),
  ]);
  return forEachPiece(db, UPDATE_PACKS, rows);
}

const DELETE_STAGED = 'DELETE FROM pack WHERE live = 1 AND staged <= ?1';

/** Deletes packs that are staged for a milestone up to this one. */
export function deleteStaged(
  db: Database,
  milestone = Number.MAX_SAFE_INTEGER,
): D1PreparedStatement {
  return db.prepare(DELETE_STAGED).bind(milestone);
}

const DELETE_PACKS = 'DELETE FROM pack WHERE key IN (SELECT value FROM json_each(?1))';

/** SQL of the elements of a JSON array whose slots are kept. */
const keepSlots = (column: string, value: string) => `(
  SELECT json_group_array(${value} ORDER BY e.key) FROM json_each(${column}) e
  WHERE substr(v.slots, e.key + 1, 1) = '1')`;

/** SQL of those entries of `unresolved` that a block in one of the slots mentions. */
const KEEP_MENTIONED = `(
  SELECT json_group_array(value) FROM (
    SELECT value FROM json_each(${UNRESOLVED}) INTERSECT
    SELECT ${outputSql.id('o.value')} FROM json_each(outputs) e CROSS JOIN json_each(e.value) o
    WHERE substr(v.slots, e.key + 1, 1) = '1'))`;

/** ?1 rows of: key, live, walked columns, checksums after and before, slots. See {@link UPDATE_PACKS}. */
const KEEP_IN_PACKS = `
  WITH v AS MATERIALIZED (
    SELECT value ->> 0 AS key, value ->> 1 AS live, value ->> 2 AS records,
      value ->> 3 AS statuses, value ->> 4 AS states, value ->> 5 AS after, value ->> 6 AS before,
      value ->> 7 AS slots
    FROM json_each(?1))
  UPDATE pack SET live = v.live, records = v.records, statuses = v.statuses, states = v.states,
    sums = ${replaceChecksums('v.before', 'v.after')},
    blocks = ${keepSlots('blocks', 'json(e.value)')},
    outputs = ${keepSlots('outputs', 'json(e.value)')},
    unresolved = CASE unresolved WHEN '[]' THEN '[]' ELSE ${KEEP_MENTIONED} END
  FROM v WHERE pack.key = v.key`;

const KEEP_CONTENTS = `
  WITH v AS MATERIALIZED (SELECT value ->> 0 AS key, value ->> 1 AS slots FROM json_each(?1))
  UPDATE pack_content SET bytes = ${keepSlots('bytes', 'e.value')},
    outputs = ${keepSlots('outputs', 'json(e.value)')},
    details = ${keepSlots('details', 'json(e.value)')}
  FROM v
  WHERE pack_content.key = v.key`;

/** Packs of a statement, of up to 0.8 MB: SQLite makes all new contents before it writes one. */
const KEPT_AT_ONCE = 64;

/** Drops the blocks at these positions of a view, and deletes packs that have no other. */
export function dropFromPacks(
  db: Database,
  { cone, packs }: { cone: RecordCone; packs: readonly ViewedPack[] },
  dropped: ReadonlySet<number>,
): D1PreparedStatement[] {
  const gone: number[] = [];
  const kept = packs.flatMap(({ key, first, statuses, states, sums }) => {
    const all = Array.from({ length: statuses.size }, (_, at) => at);
    const some = all.filter((at) => !dropped.has(first + at));
    if (some.length === 0) gone.push(key);
    if (some.length === 0 || some.length === all.length) return [];
    const slots = all.map((at) => Number(!dropped.has(first + at))).join('');
    const left = some.map((at) => statuses.at(at));
    const consumed = new Set(some.flatMap((at) => [...inputsAt(cone, first + at)]));
    const after = {
      records: concatBytes(...some.map((at) => cone.recordAt(first + at))),
      statuses: writeStatuses(left),
      states: writeStates(
        new Map([...readStateMap(states)].filter(([output]) => consumed.has(output))),
      ),
    };
    const live = Number(left.some(({ milestone }) => milestone === 0));
    const walked = [after.records, after.statuses, after.states].map(toBase64);
    const row = [key, live, ...walked, sumsAfter(sums, after), writeChecksums(sums), slots];
    return [{ row, slots: [key, slots] }];
  });
  return [
    ...splitIntoParts(kept, () => 0, { most: KEPT_AT_ONCE }).flatMap((some) => [
      ...forEachPiece(
        db,
        KEEP_IN_PACKS,
        some.map(({ row }) => row),
      ),
      ...forEachPiece(
        db,
        KEEP_CONTENTS,
        some.map(({ slots }) => slots),
      ),
    ]),
    db.prepare(DELETE_PACKS).bind(JSON.stringify(gone)),
  ];
}

const UPDATE_RECORDS = `UPDATE pack SET records = ?2, unresolved = ?3,
  sums = ${replaceChecksums('?5', '?4')} WHERE key = ?1`;

/** @param unresolved hex IDs of outputs that blocks without a verdict still wait for */
export function updateRecords(
  db: Database,
  { key, sums }: UnresolvedPack,
  records: Uint8Array,
  unresolved: Iterable<string>,
): D1PreparedStatement {
  const bound = [sumsAfter(sums, { records }), writeChecksums(sums)];
  return db
    .prepare(UPDATE_RECORDS)
    .bind(key, toBase64(records), JSON.stringify([...unresolved]), ...bound);
}

/**
 * Deletes those of the oldest packs whose milestones are all before the first that is kept. Its value
 * is the keys of the deleted ones.
 *
 * @param most packs that are looked at
 * @param condition SQL of what must be true
 */
export function deleteOldPacks(db: Database, most: number, condition: string): Query<number[]> {
  const sql = `
    DELETE FROM pack WHERE key IN (
      SELECT key FROM (SELECT key, live, last_milestone FROM pack ORDER BY key LIMIT ?1)
      WHERE live = 0 AND last_milestone < (SELECT min(idx) FROM milestone)) AND ${condition}
    RETURNING key`;
  return many(db.prepare(sql).bind(most), (row) => row.integer('key'));
}
