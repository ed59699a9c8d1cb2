/**
 * What D1 knows of outputs by their IDs: open blocks mention them, the ledger holds them, or a
 * milestone spent them.
 */
import { fromBase64 } from '../stardust/bytes.ts';
import { type Database, forEachPiece } from './database.ts';
import { selectIds } from './id-index.ts';
import type { KnownBlock } from './known-blocks.ts';
import { PARTS, readSpentOutput } from './packs.ts';

/** What an output's ID stands for, as far as it is known. */
export interface KnownOutput {
  number: number;
  /** Absent while no block that creates it is known. */
  bytes?: Uint8Array;
  /** Milestone that created it in the ledger. */
  created?: number;
  /** Milestone that spent it. */
  spent?: number;
}

/** The numbers of the blocks and outputs that a piece of work is about, and the next free ones. */
export interface Numbering {
  /** By hex ID. */
  blocks: Map<string, KnownBlock>;
  /** By hex ID. */
  outputs: Map<string, KnownOutput>;
  nextBlock: number;
  nextOutput: number;
}

export interface OutputsToFind {
  /** Hex IDs of all outputs, those that are consumed and those that are created. */
  mentioned: readonly string[];
  /** Hex IDs of those consumed, of which states and contents matter. */
  consumed: readonly string[];
}

/** Of the outputs ?1, those that open blocks mention; of one that is created, its content too. */
export const FIND_OPEN = `
  SELECT j.value ->> 1 AS id, j.value ->> 0 AS number, j.value ->> 2 AS bytes
  FROM open o CROSS JOIN json_each(o.outputs) j
  WHERE (j.value ->> 1) IN (SELECT value FROM json_each(?1))`;

/** Of the outputs ?1, those in the ledger. */
const FIND_UNSPENT = `
  SELECT o.id, o.bytes, o.created FROM json_each(?1) j JOIN output o ON o.id = j.value`;

/** Of the outputs ?1, those that milestones spent; with all about them while the pack is kept. */
const FIND_SPENT = `
  WITH gone AS MATERIALIZED (
    SELECT json_group_array(j.value) AS ids FROM json_each(?1) j
    WHERE NOT EXISTS (SELECT 1 FROM output o WHERE o.id = j.value))
  SELECT f.id, f.milestone AS spent, ${selectSpent('f.milestone', 'f.id')} AS output
  FROM (${selectIds('(SELECT ids FROM gone)')}) f`;

/** SQL of the JSON of an output (packs.ts) that this milestone spent. */
export function selectSpent(milestone: string, id: string): string {
  return `(
    SELECT s.value FROM pack p CROSS JOIN json_each(p.spent) s
    WHERE p.key >= ${milestone} * ${PARTS} AND p.key < (${milestone} + 1) * ${PARTS}
      AND s.value ->> 0 = ${id})`;
}

/** Statements that look outputs up, for the batch of whoever wants to know. */
export function findOutputs(
  db: Database,
  { mentioned, consumed }: OutputsToFind,
): D1PreparedStatement[] {
  return [...forEachPiece(db, FIND_OPEN, mentioned), ...findLedgerOutputs(db, consumed)];
}

/** The same for what the ledger holds, or a milestone spent. */
export function findLedgerOutputs(db: Database, ids: readonly string[]): D1PreparedStatement[] {
  return [...forEachPiece(db, FIND_UNSPENT, ids), ...forEachPiece(db, FIND_SPENT, ids)];
}

/**
 * What the statements found, by hex ID.
 *
 * @param numberOf the number of an output, given that which open blocks mention it by, if any do
 */
export function knownOutputs(
  rows: readonly Record<string, unknown>[],
  numberOf: (id: string, open: number | undefined) => number,
): Map<string, KnownOutput> {
  const outputs = new Map<string, KnownOutput>();
  for (const row of rows) {
    const id = String(row.id);
    const open = row.number === undefined ? undefined : Number(row.number);
    const known = outputs.get(id) ?? { number: numberOf(id, open) };
    outputs.set(id, known);
    Object.assign(known, knownFacts(row));
  }
  return outputs;
}

function knownFacts({
  bytes,
  created,
  spent,
  output,
}: Record<string, unknown>): Partial<KnownOutput> {
  if (spent === undefined) {
    return {
      ...(bytes != null && { bytes: fromBase64(String(bytes)) }),
      ...(created != null && { created: Number(created) }),
    };
  }
  const milestone = Number(spent);
  // of one whose pack is gone nothing else is known, but that it was there before it was spent
  if (output === null) return { created: milestone, spent: milestone };
  const whole = readSpentOutput(String(output));
  return { bytes: fromBase64(whole.bytes), created: whole.created, spent: milestone };
}

/**
 * Numbers for outputs of blocks that D1 does not have, and what is free behind them.
 *
 * @param rows what D1 knows of them
 * @param mentioned hex IDs
 * @param next what is free among the open blocks
 * @param numberOf the numbers of the view, where its packs are of several milestones
 */
export function numberOutputs(
  rows: readonly Record<string, unknown>[],
  mentioned: readonly string[],
  next: Pick<Numbering, 'nextBlock' | 'nextOutput'>,
  numberOf: ReadonlyMap<string, number> | undefined,
): Omit<Numbering, 'blocks'> {
  let nextOutput = numberOf === undefined ? next.nextOutput : numberOf.size + 1;
  const outputs = knownOutputs(
    rows,
    (id, open) => (numberOf === undefined ? open : numberOf.get(id)) ?? nextOutput++,
  );
  for (const id of mentioned) {
    const number = numberOf?.get(id);
    if (number !== undefined && !outputs.has(id)) outputs.set(id, { number });
  }
  return { outputs, nextBlock: next.nextBlock, nextOutput };
}
