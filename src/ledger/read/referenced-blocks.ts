/**
 * Blocks that a milestone references, in white-flag order: its parts name them by number, and the
 * packs that hold them say the rest.
 */
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import { type Database, isPartOf } from '../core/database.ts';
import { LedgerMoved } from '../core/fence.ts';
import { selectIds } from '../core/id-index.ts';
import { readBlockRows } from '../core/packs/block-rows.ts';
import { readNumbers } from '../core/packs/milestone-part.ts';
import { type OutputRow, requireOutputSum } from '../core/packs/output-rows.ts';
import { NO_REASON, statusesFromRow } from '../core/packs/packs.ts';
import { first, many, type Query, type Row, readQuery } from '../core/read-batch.ts';
import { summedColumns } from '../core/row-sum.ts';

export interface ReferencedBlock {
  /** Hex. */
  id: string;
  /** Payload type (docs/protocol.md, A.1), 0 for none. */
  payload: number;
  /** Conflict reason of a transaction, 0 if it was applied; undefined for other blocks. */
  reason: number | undefined;
  /** The key of its pack. */
  pack: number;
}

/** SQL of the index of the milestone that references the block ?1; NULL where none does. */
export const FIND_MILESTONE = `(SELECT f.milestone FROM (${selectIds('json_array(?1)')}) f LIMIT 1)`;

/** SQL of the index of a milestone, and its parameter ?1. */
type MilestoneSql = readonly [sql: string, parameter: string | number];

export function milestoneOf(blockId: string): MilestoneSql {
  return [FIND_MILESTONE, blockId];
}

export function milestoneAt(index: number): MilestoneSql {
  return ['?1', index];
}

export function selectKeys(milestone: string): string {
  return `
    SELECT k.value FROM milestone_part m CROSS JOIN json_each(m.packs) k
    WHERE ${isPartOf('m.key', milestone)}`;
}

const selectParts = (milestone: string) => `
  SELECT ${summedColumns('milestone_part', 'm')} FROM milestone_part m WHERE ${isPartOf('m.key', milestone)} ORDER BY m.key`;

const selectPacks = (milestone: string) => `
  SELECT p.key, p.statuses, p.sums, p.blocks FROM pack p WHERE p.key IN (${selectKeys(milestone)})`;

/** SQL of the bytes of the block at this place. */
export function bytesOfBlock(pack: string, at: string): string {
  return `(SELECT c.bytes ->> ('$[' || ${at} || ']') FROM pack_content c WHERE c.key = ${pack})`;
}

/** The bytes of the block ?1 that a milestone references; packs that do not name it are skipped. */
const SELECT_BYTES_OF_BLOCK = `
  SELECT ${bytesOfBlock('p.key', 'b.key')} AS bytes
  FROM pack p CROSS JOIN json_each(p.blocks) b
  WHERE p.key IN (${selectKeys(FIND_MILESTONE)}) AND instr(p.blocks, '"' || ?1 || '"') > 0
    AND b.value ->> 1 = ?1`;

/**
 * Selects the blocks of a kept milestone in white-flag order, a function of their number. Throws a
 * LedgerDamaged if they are not all there.
 */
export function selectBlocksOf(
  db: Database,
  [milestone, parameter]: MilestoneSql,
): Query<(count: number) => ReferencedBlock[]> {
  const parts = many(db.prepare(selectParts(milestone)).bind(parameter), (row) => {
    row.requireSum('milestone_part');
    return readNumbers(row.text('blocks'));
  });
  const packs = many(db.prepare(selectPacks(milestone)).bind(parameter), blocksFromRow);
  return {
    statements: [...parts.statements, ...packs.statements],
    read: (results) => (count) => {
      const byNumber = new Map(packs.read(results.slice(1)).flat());
      const numbers = parts.read(results.slice(0, 1)).flat();
      const blocks = numbers.flatMap((number) => byNumber.get(number) ?? []);
      if (blocks.length !== count) throw new LedgerDamaged('lists of blocks of a milestone');
      return blocks;
    },
  };
}

function blocksFromRow(row: Row): [number: number, block: ReferencedBlock][] {
  const pack = row.integer('key');
  const statuses = statusesFromRow(row);
  return readBlockRows(row.text('blocks')).map(([number, id, payload], at) => {
    const { reason } = statuses.at(at);
    return [number, { id, payload, reason: reason === NO_REASON ? undefined : reason, pack }];
  });
}

/** Packs whose outputs are read at once: up to 600 KB each. */
const PACKS_AT_ONCE = 8;

/**
 * ?1 packs, ?2 IDs of blocks: a block's place in its pack changes where others are dropped from it
 * meanwhile.
 */
const SELECT_MENTIONS = `
  SELECT p.outputs -> ('$[' || b.key || ']') AS outputs FROM pack p CROSS JOIN json_each(p.blocks) b
  WHERE p.key IN (SELECT value FROM json_each(?1))
    AND b.value ->> 1 IN (SELECT value FROM json_each(?2))`;

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
      const outputs: OutputRow[] = JSON.parse(row.text('outputs'));
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
  return first(db.prepare(SELECT_BYTES_OF_BLOCK).bind(blockId), blockBytesFromRow);
}

export function blockBytesFromRow(row: Row): Uint8Array {
  return fromBase64(row.text('bytes'));
}
