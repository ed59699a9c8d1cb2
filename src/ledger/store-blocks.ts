/**
 * Storing blocks: not referenced by any milestone yet, so that they change no answer until a
 * proposal reaches them.
 */
import { parseBlock } from '../stardust/block.ts';
import { concatBytes, fromBase64, toBase64 } from '../stardust/bytes.ts';
import type { VerifySignature } from '../stardust/milestone-keys.ts';
import { inputsAt, isUndecidedAt, readCone } from '../stardust/white-flag/cone.ts';
import { type Database, forEachPiece, runBatch } from './database.ts';
import { readContents } from './decide-verdicts.ts';
import { failUnless, LedgerMoved, runFenced, SAME_HEAD } from './fence.ts';
import { type Head, headFromRow, SELECT_HEAD } from './head.ts';
import type { Numbering } from './known-outputs.ts';
import {
  insertOpenPacks,
  OPEN_COLUMNS,
  type OpenBlock,
  openPackFromRow,
  requireOpenPacks,
} from './open-packs.ts';
import type { OutputState } from './packs.ts';
import { completeRecord, type PreparedBlock } from './prepare-blocks.ts';

/** A prepared block as it goes into an open pack. */
export function toOpenBlock(prepared: PreparedBlock, seen: number): OpenBlock {
  const { id, number, payload, record, consumed, created } = prepared;
  const bytes = toBase64(prepared.bytes);
  return {
    id,
    number,
    payload,
    seen,
    length: bytes.length,
    bytes,
    record,
    mentions: [
      ...consumed.map((output) => ({ ...output, bytes: null, nft: null })),
      ...created.map((output) => ({ ...output, bytes: toBase64(output.bytes) })),
    ],
  };
}

/** What the ledger knows of outputs, by the numbers that they have here. */
export function statesOf({ outputs }: Pick<Numbering, 'outputs'>): Map<number, OutputState> {
  const states = new Map<number, OutputState>();
  for (const { number, created, spent = 0 } of outputs.values()) {
    if (created !== undefined) states.set(number, { created, spent });
  }
  return states;
}

/**
 * Statements that store the blocks; run them as one batch. They fail, all of them, when the open
 * blocks or the ledger are not those of the view any more.
 *
 * @param last the highest key of an open pack, undefined where nothing is open
 */
export function storeStatements(
  db: Database,
  { head, last }: { head: Head; last: number | undefined },
  blocks: readonly PreparedBlock[],
  numbering: Numbering,
): D1PreparedStatement[] {
  const states = statesOf(numbering);
  return [
    requireOpenPacks(db, head, last),
    ...insertOpenPacks(
      db,
      blocks.map((block) => toOpenBlock(block, head.ledger)),
      numbering,
      ({ number }) => number,
      (output) => states.get(output),
    ),
  ];
}

/** IDs of the outputs that the blocks' transactions create. */
export function createdOutputIds(blocks: readonly PreparedBlock[]): string[] {
  return blocks.flatMap(({ created }) => created.map(({ id }) => id));
}

/** Open packs with a block that waits for one of the outputs ?1. */
const SELECT_WAITING = `
  SELECT ${OPEN_COLUMNS}, bytes FROM open WHERE waiting <> '[]'
    AND EXISTS (
      SELECT 1 FROM json_each(waiting) w WHERE w.value IN (SELECT value FROM json_each(?1)))`;

const UPDATE_RECORDS = 'UPDATE open SET records = ?2, waiting = ?3 WHERE key = ?1';

/** Packs are put together anew by milestones and when blocks are dropped. */
const SAME_PACKS = failUnless(SAME_HEAD);

/**
 * Completes the records of stored blocks that waited for outputs with these IDs, whose contents are
 * known now. Where it did not run, a request that needs such a verdict makes it itself.
 */
export async function settleWaiting(
  db: Database,
  generation: string,
  outputs: readonly string[],
  verify: VerifySignature,
): Promise<void> {
  const pieces = forEachPiece(db, SELECT_WAITING, outputs);
  if (pieces.length === 0) return;
  const [heads, ...found] = await runBatch(db, [db.prepare(SELECT_HEAD).bind(null), ...pieces]);
  const head = heads![0] && headFromRow(heads![0]);
  if (head?.generation !== generation) throw new LedgerMoved('the ledger was replaced');
  if (found.flat().length === 0) return;
  const packs = new Map(found.flat().map((row) => [Number(row.key), row]));
  const updates: D1PreparedStatement[] = [];
  for (const row of packs.values()) {
    const { key, records, waiting } = await settlePack(db, row, verify);
    updates.push(db.prepare(UPDATE_RECORDS).bind(key, records, JSON.stringify(waiting)));
  }
  await runFenced(db, [
    db.prepare(SAME_PACKS).bind(generation, head.ledger, head.dropped),
    ...updates,
  ]);
}

async function settlePack(
  db: Database,
  row: Record<string, unknown>,
  verify: VerifySignature,
): Promise<{ key: number; records: string; waiting: string[] }> {
  const { key, blocks } = openPackFromRow(row);
  const bytes = JSON.parse(String(row.bytes)) as string[];
  const undecided = new Map(
    blocks.flatMap(({ number, record }, at) => {
      if (!isUndecidedAt(readCone([record]), 0)) return [];
      const parsed = parseBlock(fromBase64(bytes[at]!));
      if (!parsed.ok) throw new Error(`stored block ${number} does not parse: ${parsed.reason}`);
      return [[number, parsed.parsed] as const];
    }),
  );
  const contents = await readContents(db, [...undecided.values()]);
  const records: Uint8Array[] = [];
  const waiting = new Set<string>();
  for (const { number, record, mentions } of blocks) {
    const parsed = undecided.get(number);
    const whole = parsed && (await completeRecord(record, parsed, contents, verify));
    records.push(whole ?? record);
    if (parsed === undefined || whole !== undefined) continue;
    const inputs = new Set(inputsAt(readCone([record]), 0));
    for (const mention of mentions) if (inputs.has(mention.number)) waiting.add(mention.id);
  }
  return { key, records: toBase64(concatBytes(...records)), waiting: [...waiting] };
}
