/**
 * Blocks that a milestone references, in white-flag order: its parts name them by number, and the
 * packs that hold them say the rest.
 */
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { LedgerDamaged, readStored } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { LedgerMoved } from '../core/fence.ts';
import { LedgerUnreadable, milestoneFromRow } from '../core/head.ts';
import { selectIds } from '../core/id-index.ts';
import { combine, first, many, type Query, type Row, readQuery } from '../core/read-batch.ts';
import { summedColumns } from '../core/row-sum.ts';
import { blockSql, type OutputRow, readBlockRows, requireOutputSum } from './id-rows.ts';
import { isPartOf, readNumbers, selectKeys } from './milestone-part.ts';
import { NO_REASON, statusesFromRow } from './pack-columns.ts';
import { atPlaces, type BlockPlace, elementSql } from './places.ts';

export interface ReferencedBlock {
  /** Hex. */
  id: string;
  /** Payload type (docs/protocol.md, A.1), 0 for none. */
  payload: number;
  /** Conflict reason of a transaction, 0 if it was applied; undefined for other blocks. */
  reason: number | undefined;
  /** The key of its pack, and its place there, for as long as no block is dropped from the pack. */
  pack: number;
  at: number;
}

/** SQL of the index of the milestone that references the block ?1; NULL where none does. */
export const FIND_MILESTONE = `(SELECT f.milestone FROM (${selectIds('json_array(?1)')}) f LIMIT 1)`;

/** SQL of the index of a milestone, and its parameter ?1. */
type MilestoneSql = readonly [sql: string, parameter: string | number];

export const milestoneOf = (blockId: string): MilestoneSql => [FIND_MILESTONE, blockId];

export const milestoneAt = (index: number): MilestoneSql => ['?1', index];

/** Blocks of a milestone that are listed at once: they take 86 MB for a while, with their leaves. */
const MAX_LISTED_BLOCKS = 100_000;

const selectParts = (milestone: string) => `
  SELECT ${summedColumns('milestone_part', 'm')} FROM milestone_part m WHERE ${isPartOf('m.key', milestone)} ORDER BY m.key`;

const selectPacks = (milestone: string) => `
  SELECT p.key, p.statuses, p.sums, p.blocks FROM pack p WHERE p.key IN (${selectKeys(milestone)})`;

const SELECT_MILESTONE = `
  SELECT ${summedColumns('milestone', 'm', 'milestone_')} FROM milestone m WHERE m.idx = ${FIND_MILESTONE}`;

/** An ID's slot, by brackets before it, which damage may remove. json_each would bill its rows. */
const SLOT = "max(length(p.before) - length(replace(p.before, '[', '')) - 2, 0)";

/** The block ?1 that a milestone references; packs that do not name it are skipped. */
const SELECT_BLOCK = `
  SELECT p.key, p.statuses, p.sums, p.blocks, ${elementSql('bytes', 'p.key', SLOT)} AS bytes
  FROM (SELECT *, substr(blocks, 1, instr(blocks, '"' || ?1 || '"')) AS before FROM pack
    WHERE key IN (${selectKeys(FIND_MILESTONE)})) p
  WHERE p.before <> ''`;

/** SQL of whether the milestone has no more blocks than are listed. */
const isListed = (milestone: string) =>
  `(SELECT blocks FROM milestone WHERE idx = ${milestone}) <= ${MAX_LISTED_BLOCKS}`;

/**
 * Selects the blocks of a kept milestone in white-flag order, a function of their number. Throws a
 * LedgerDamaged if they are not all there, and a LedgerUnreadable if they are too many.
 */
export function selectBlocksOf(
  db: Database,
  [milestone, parameter]: MilestoneSql,
): Query<(count: number) => ReferencedBlock[]> {
  const list = (sql: string) =>
    db.prepare(`SELECT * FROM (${sql}) WHERE ${isListed(milestone)}`).bind(parameter);
  const parts = many(list(selectParts(milestone)), numbersFromRow);
  const packs = many(list(selectPacks(milestone)), blocksFromRow);
  return {
    statements: [...parts.statements, ...packs.statements],
    read: (results) => (count) => {
      if (count > MAX_LISTED_BLOCKS)
        throw new LedgerUnreadable(`the milestone has ${count} blocks: too many to list`);
      const byNumber = new Map(readStored(() => packs.read(results.slice(1)).flat()));
      const numbers = readStored(() => parts.read(results.slice(0, 1)).flat());
      const blocks = numbers.flatMap((number) => byNumber.get(number) ?? []);
      if (blocks.length !== count) throw new LedgerDamaged('lists of blocks of a milestone');
      return blocks;
    },
  };
}

function numbersFromRow(row: Row): number[] {
  row.requireSum('milestone_part');
  return readNumbers(row.text('blocks'));
}

/** Leaves out what no milestone references: so a pack of an earlier time lacks blocks. */
function blocksFromRow(row: Row): (readonly [number: number, block: ReferencedBlock])[] {
  const pack = row.integer('key');
  const statuses = statusesFromRow(row);
  return readBlockRows(row.text('blocks')).flatMap(([number, id, payload], at) => {
    const { milestone, reason: own } = statuses.at(at);
    const reason = own === NO_REASON ? undefined : own;
    return milestone === 0 ? [] : [[number, { id, payload, reason, pack, at }] as const];
  });
}

/** Packs whose outputs are read at once: up to 600 KB each. */
const PACKS_AT_ONCE = 8;

/**
 * ?1 packs, ?2 IDs of blocks: a block's place in its pack changes where others are dropped from it
 * meanwhile. Each pack's outputs are parsed once, and not searched for each block.
 */
const SELECT_MENTIONS = `
  WITH named AS MATERIALIZED (
    SELECT p.key AS pack, b.key AS at FROM pack p CROSS JOIN json_each(p.blocks) b
    WHERE p.key IN (SELECT value FROM json_each(?1))
      AND ${blockSql.id('b.value')} IN (SELECT value FROM json_each(?2)))
  ${atPlaces('mentions', 'SELECT pack, at FROM named')}`;

/**
 * Yields the outputs that the blocks' transactions consume and create, in any order. IDs are hex.
 * Throws a LedgerMoved if a block is pruned.
 */
export async function* readMentions(
  db: Database,
  blocks: readonly ReferencedBlock[],
): AsyncGenerator<{ id: string; isCreated: boolean }[]> {
  const packs = [...Map.groupBy(blocks, ({ pack }) => pack)];
  for (let from = 0; from < packs.length; from += PACKS_AT_ONCE) {
    const some = packs.slice(from, from + PACKS_AT_ONCE);
    const named = some.flatMap(([, those]) => those.map(({ id }) => id));
    const bound = [some.map(([pack]) => pack), named].map((each) => JSON.stringify(each));
    const mentions = many(db.prepare(SELECT_MENTIONS).bind(...bound), (row) => {
      const outputs: OutputRow[] = JSON.parse(row.text('value'));
      return outputs;
    });
    const read = await readQuery(db, mentions);
    if (read.length !== named.length) throw new LedgerMoved('a block of the milestone is pruned');
    yield read.flat().map(([number, id, sum, chain]) => {
      requireOutputSum(number, id, sum);
      return { id, isCreated: chain !== undefined };
    });
  }
}

/** The bytes of a block that a milestone references; undefined where they are not kept. */
export function selectReferencedBytes(
  db: Database,
  blockId: string,
): Query<Uint8Array | undefined> {
  return first(db.prepare(SELECT_BLOCK).bind(blockId), (row) => fromBase64(row.text('bytes')));
}

/** Selects as {@link selectReferencedBytes}; of blocks in other packs their numbers alone. */
export function selectReferenced(
  db: Database,
  blockId: string,
): Query<{ bytes: Uint8Array; whiteFlagIndex: number; reason: number | undefined } | undefined> {
  return combine(
    {
      milestone: first(db.prepare(SELECT_MILESTONE).bind(blockId), (row) => milestoneFromRow(row)),
      parts: many(db.prepare(selectParts(FIND_MILESTONE)).bind(blockId), numbersFromRow),
      found: first(db.prepare(SELECT_BLOCK).bind(blockId), (row) => ({
        block: blocksFromRow(row).find(([, { id }]) => id === blockId),
        bytes: fromBase64(row.text('bytes')),
      })),
    },
    ({ milestone, parts, found }) => {
      // pruned, or an entry point, which the import's milestone is said to reference
      if (!milestone?.blocks) return undefined;
      if (found?.block === undefined) throw new LedgerDamaged('blocks of packs');
      const [number, { reason }] = found.block;
      const numbers = parts.flat();
      const whiteFlagIndex = numbers.indexOf(number);
      if (whiteFlagIndex === -1 || numbers.length !== milestone.blocks)
        throw new LedgerDamaged('lists of blocks of a milestone');
      return { bytes: found.bytes, whiteFlagIndex, reason };
    },
  );
}

/** ?1 the milestone, ?2 the chain. */
const SELECT_CREATORS = `
  SELECT p.key AS pack, b.key AS at FROM pack p CROSS JOIN json_each(p.outputs) b
  WHERE p.key IN (${selectKeys('?1')}) AND instr(p.outputs, '"' || ?2 || '"') > 0
    AND instr(b.value, '"' || ?2 || '"') > 0`;

/**
 * Places of blocks, in the packs of the milestone, whose transactions create an output of the chain
 * with this hex ID.
 */
export function selectCreators(
  db: Database,
  milestone: number,
  chain: string,
): Query<BlockPlace[]> {
  return many(db.prepare(SELECT_CREATORS).bind(milestone, chain), (row) => [
    row.integer('pack'),
    row.integer('at'),
  ]);
}
