/**
 * Facts in D1 about outputs by their IDs: unreferenced blocks mention them, the ledger holds them,
 * or a milestone spent them.
 */
import { type Database, forEachPiece } from '../core/database.ts';
import { type KnownBlock, selectIds } from '../core/id-index.ts';
import {
  contentsLengthSql,
  outputColumns,
  readOutputBytes,
  unspentFromRow,
} from '../core/output-bytes.ts';
import { concat, many, type Query, type Row, readQuery } from '../core/read-batch.ts';
import { summedColumns } from '../core/row-sum.ts';
import { findCreated, type MentionedOutput } from '../packs/live-packs.ts';
import { isPartOf, readSpentOutput, spentIn, spentSql } from '../packs/milestone-part.ts';
import type { NextNumbers } from '../packs/next-numbers.ts';

export interface KnownOutput {
  number: number;
  /** Content; absent if no block that creates it is known, or only states were read. */
  bytes?: Uint8Array;
  /** Characters of its content in D1, where only states were read. */
  length?: number;
  created?: number;
  spent?: number;
}

/** The numbers of the blocks and outputs that a piece of work is about, and the next free ones. */
export interface Numbering extends NextNumbers {
  blocks: Map<string, KnownBlock>;
  outputs: Map<string, KnownOutput>;
}

export interface OutputsToFind {
  /** Hex IDs of all outputs, those that are consumed and those that are created. */
  mentioned: readonly string[];
  /** Hex IDs of those consumed, of which states matter. */
  consumed: readonly string[];
}

export const NO_OUTPUTS: OutputsToFind = { mentioned: [], consumed: [] };

export interface FoundOutput extends Omit<KnownOutput, 'number'> {
  /** Hex. */
  id: string;
  /** Block that created it in the ledger, hex, and when, where contents were read. */
  block?: string;
  createdTime?: number;
  mention?: MentionedOutput['mention'];
}

/** SQL: of the outputs ?1, those in the ledger. */
const findUnspent = (columns: string) => `
  SELECT ${columns} FROM json_each(?1) j JOIN output o ON o.id = j.value`;

/**
 * SQL: those of the outputs ?1 that milestones spent, and again, with `output` about them, those
 * whose milestone is kept. Each part is parsed once: 6,000 outputs of one milestone take 0.07 s.
 */
const findSpent = (output: string, length: string) => `
  WITH gone AS MATERIALIZED (
      SELECT json_group_array(j.value) AS ids FROM json_each(?1) j
      WHERE NOT EXISTS (SELECT 1 FROM output o WHERE o.id = j.value)),
    found AS MATERIALIZED (${selectIds('(SELECT ids FROM gone)')})
  SELECT f.*, NULL AS output, NULL AS length FROM found f
  UNION ALL
  SELECT ${spentSql.id('s.value')}, f.milestone, NULL, NULL, ${output}, ${length}
  FROM (SELECT DISTINCT milestone FROM found) f CROSS JOIN milestone_part p
    CROSS JOIN json_each(p.spent) s
  WHERE ${isPartOf('p.key', 'f.milestone')} AND ${spentSql.id('s.value')} IN (SELECT id FROM found)`;

const FIND_UNSPENT = findUnspent(outputColumns('o'));
const FIND_SPENT = findSpent(spentSql.whole('s.value'), 'NULL');
const FIND_UNSPENT_STATES = findUnspent(
  `${summedColumns('output', 'o')}, ${contentsLengthSql('o')}`,
);
const FIND_SPENT_STATES = findSpent(spentSql.withoutBytes('s.value'), spentSql.length('s.value'));

/** SQL of the whole {@link SpentRow} of an output that it spent. Other parts are not parsed. */
export function selectSpent(milestone: string, id: string): string {
  return `(
    SELECT ${spentSql.whole('s.value')} FROM ${spentIn(milestone)} AND instr(p.spent, '"' || ${id} || '"') > 0
      AND ${spentSql.id('s.value')} = ${id})`;
}

/** Outputs with these hex IDs that the ledger holds, or a milestone spent. */
export function findLedgerOutputs(db: Database, ids: readonly string[]): Query<FoundOutput[]> {
  return concat(
    many<FoundOutput>(forEachPiece(db, FIND_UNSPENT, ids), unspentFromRow),
    many(forEachPiece(db, FIND_SPENT, ids), (row) => {
      const { bytes, ...state } = spentOutputFromRow(row);
      return bytes === undefined ? state : { ...state, bytes: readOutputBytes(bytes, state.id) };
    }),
  );
}

/** Finds outputs like {@link findLedgerOutputs}, with the lengths of contents instead of these. */
export function findLedgerStates(db: Database, ids: readonly string[]): Query<FoundOutput[]> {
  return concat(
    many(forEachPiece(db, FIND_UNSPENT_STATES, ids), (row): FoundOutput => {
      row.requireSum('output');
      const [id, created] = [row.text('id'), row.integer('created')];
      return { id, created, length: row.integer('length') };
    }),
    many(forEachPiece(db, FIND_SPENT_STATES, ids), (row): FoundOutput => {
      const { bytes, ...state } = spentOutputFromRow(row);
      return bytes === undefined ? state : { ...state, length: row.integer('length') };
    }),
  );
}

/**
 * Reads contents of outputs, by hex ID, that an unreferenced block creates, the ledger holds, or a
 * milestone spent. IDs fix contents.
 *
 * @param creatorOf the number of the unreferenced block that creates an output
 */
export async function readOutputContents(
  db: Database,
  ids: readonly string[],
  creatorOf: (id: string) => number | undefined,
): Promise<ReadonlyMap<string, { bytes?: Uint8Array }>> {
  const created = ids.flatMap((id): [string, number][] => {
    const block = creatorOf(id);
    return block === undefined ? [] : [[id, block]];
  });
  const found = concat<FoundOutput>(findCreated(db, created), findLedgerOutputs(db, ids));
  return knownOutputs(await readQuery(db, found), () => 0);
}

/** Reads an output with its content as it is stored. */
function spentOutputFromRow(row: Row): Omit<FoundOutput, 'bytes'> & { bytes?: string } {
  const id = row.text('id');
  const spent = row.integer('milestone');
  const text = row.textOrNull('output');
  if (text === null) {
    row.requireSum('id');
    // of one whose milestone is pruned nothing else is known, but that it was there before
    return { id, created: spent, spent };
  }
  const { bytes, block, created, createdTime } = readSpentOutput(JSON.parse(text));
  return { id, bytes, block, created, createdTime, spent };
}

/**
 * Collects the facts by hex ID: of two rows about one output the later counts.
 *
 * @param numberOf the number of an output
 */
export function knownOutputs(
  found: readonly FoundOutput[],
  numberOf: (id: string) => number,
): Map<string, KnownOutput> {
  const outputs = new Map<string, KnownOutput>();
  // what only a reader of one output wants would take as much memory again as small contents
  for (const { id, mention: _, block: _block, createdTime: _time, ...facts } of found)
    outputs.set(id, { ...(outputs.get(id) ?? { number: numberOf(id) }), ...facts });
  return outputs;
}
