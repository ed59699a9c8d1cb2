/**
 * Entries of the index of IDs (src/ledger/core/id-index.ts): D1 makes them of the packs and parts that
 * have the IDs already.
 */
import { type Database, forEachPiece, isPartOf } from '../core/database.ts';
import type { FingerprintMover } from '../core/fingerprint.ts';
import type { IdTable } from '../core/head.ts';
import { idTableName, milestoneEntry } from '../core/id-index.ts';
import { many, readAlone } from '../core/read-batch.ts';
import { numberSumSql } from '../core/row-sum.ts';

/** SQL of the blocks of packs that ?1 names by pack and position. */
const NAMED_BLOCKS = `
  pack p CROSS JOIN json_each(p.blocks) b
  WHERE p.key IN (SELECT pack FROM named) AND (p.key, b.key) IN (SELECT pack, at FROM named)`;

const NAMED = `
  named AS MATERIALIZED (SELECT value ->> 0 AS pack, value ->> 1 AS at FROM json_each(?1))`;

/** SQL of {@link entrySum} of a block of a pack (pack-columns.ts), ?2 the milestone. */
const ENTRY_SUM = {
  referenced: '(b.value ->> 3) - (b.value ->> 2) + ?2',
  entryPoint: `(b.value ->> 3) - (b.value ->> 2) - ${numberSumSql('b.value ->> 0')} + ?2`,
};

/** Blocks whose sums one statement reads. */
const BLOCKS_AT_ONCE = 10_000;

/**
 * Moves the fingerprint by the entries of blocks that {@link insertIds} or {@link insertEntryPoints}
 * inserts, a few thousand at a time: there may be 300,000.
 *
 * @param tables those of head: the last one takes the IDs
 * @param milestone index in the entries
 * @param blocks the pack that holds each block, and the position there
 */
export async function moveByBlocks(
  db: Database,
  fingerprints: FingerprintMover,
  tables: readonly IdTable[],
  kind: keyof typeof ENTRY_SUM,
  milestone: number,
  blocks: Iterable<readonly [pack: number, at: number]>,
): Promise<void> {
  const table = idTableName(tables.at(-1)!);
  const sql = `
    WITH ${NAMED} SELECT b.value ->> 1 AS id, ${ENTRY_SUM[kind]} AS sum FROM ${NAMED_BLOCKS}`;
  const statement = db.prepare(sql);
  const read = (some: readonly (readonly [number, number])[]) =>
    readAlone(
      many(statement.bind(JSON.stringify(some), milestone), (row) =>
        fingerprints.move(table, row.text('id'), row.integer('sum')),
      ),
    );
  let some: (readonly [number, number])[] = [];
  for (const block of blocks) {
    some.push(block);
    if (some.length < BLOCKS_AT_ONCE) continue;
    await read(some);
    some = [];
  }
  if (some.length > 0) await read(some);
}

/**
 * Statements that note what a milestone references and spends, and its own ID. The IDs of outputs
 * come from its parts, which must have been inserted before.
 *
 * @param tables those of head: the last one takes the IDs
 * @param id of the milestone, hex
 * @param blocks the pack that holds each of its blocks, and the position there
 */
export function insertIds(
  db: Database,
  tables: readonly IdTable[],
  { index, id: milestoneId }: { index: number; id: string },
  blocks: Iterable<readonly [pack: number, at: number]>,
): D1PreparedStatement[] {
  const insert = `INSERT INTO ${idTableName(tables.at(-1)!)} (id, milestone, block, sum)`;
  const blocksOfPacks = `
    ${insert}
    WITH ${NAMED}
    SELECT b.value ->> 1, ?2, b.value ->> 0, ?2 + ${numberSumSql('b.value ->> 0')}
    FROM ${NAMED_BLOCKS}`;
  const outputs = `
    ${insert}
    SELECT s.value ->> 0, ?1, 0, ?1 FROM milestone_part p CROSS JOIN json_each(p.spent) s
    WHERE ${isPartOf('p.key', '?1')}`;
  return [
    db.prepare(`${insert} VALUES (?1, ?2, 0, ?2)`).bind(milestoneEntry(milestoneId), index),
    ...forEachPiece(db, blocksOfPacks, blocks, index),
    db.prepare(outputs).bind(index),
  ];
}

/**
 * Statements that note blocks as entry points: referenced by some milestone up to this one.
 *
 * @param tables those of head: the last one takes the IDs
 * @param milestone index
 * @param blocks the pack that holds each block, and the position there
 */
export function insertEntryPoints(
  db: Database,
  tables: readonly IdTable[],
  milestone: number,
  blocks: Iterable<readonly [pack: number, at: number]>,
): D1PreparedStatement[] {
  const insert = `
    INSERT INTO ${idTableName(tables.at(-1)!)} (id, milestone, block, sum)
    WITH ${NAMED} SELECT b.value ->> 1, ?2, 0, ?2 FROM ${NAMED_BLOCKS}`;
  return forEachPiece(db, insert, blocks, milestone);
}
