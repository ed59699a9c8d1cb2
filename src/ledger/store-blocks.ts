/**
 * Storing blocks: not referenced by any milestone yet, so that they change no answer until a proposal reaches them.
 */

import { parseBlock } from '../stardust/block.ts';
import { fromBase64, toBase64 } from '../stardust/bytes.ts';
import type { VerifySignature } from '../stardust/milestone-keys.ts';
import { decodeRecord, encodeRecord } from '../stardust/white-flag/block-record.ts';
import type { Cone } from '../stardust/white-flag/cone.ts';
import { type Database, forEachPiece, runBatch } from './database.ts';
import { failUnless, LedgerMoved, requireGeneration, runFenced } from './fence.ts';
import { lookUpOutputs } from './known-rows.ts';
import { completeRecord, mentionedOutputIds, type PreparedBlock } from './prepare-blocks.ts';

/** A parent that was dropped meanwhile (orphans.ts) would look like one that a milestone references: its past would be left out. */
const REQUIRE_PARENTS = failUnless(`
  (SELECT count(*) FROM json_each(?1) j JOIN block b ON b.row = j.value WHERE b.milestone IS NULL OR b.milestone >= 0)
  = json_array_length(?1)`);

const INSERT_BLOCKS = `
  INSERT INTO block (row, id, tx, record, seen)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, (SELECT ledger FROM head) FROM json_each(?1)`;

const INSERT_BYTES =
  'INSERT INTO block_bytes (row, bytes) SELECT value ->> 0, value ->> 1 FROM json_each(?1)';

/** Fails where an ID has another row by now (seen must not be NULL) or a row another ID (it is the primary key). */
const INSERT_OUTPUTS = `
  INSERT INTO output (row, id, bytes, nft, seen)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?1) WHERE true
  ON CONFLICT (id) DO UPDATE SET
    bytes = coalesce(bytes, excluded.bytes), nft = coalesce(nft, excluded.nft),
    seen = CASE WHEN row = excluded.row THEN max(seen, excluded.seen) END`;

const INSERT_INPUTS =
  'INSERT INTO input (block, output) SELECT value ->> 0, value ->> 1 FROM json_each(?1)';

const INSERT_WAITING =
  'INSERT INTO waiting (output, block) SELECT value ->> 0, value ->> 1 FROM json_each(?1)';

/**
 * Statements that store the blocks; run them as one batch. They fail, all of them, when another writer took the rows in between, or a parent away.
 *
 * @param generation the one that the rows were looked up in
 */
export function storeStatements(
  db: Database,
  blocks: readonly PreparedBlock[],
  generation: string,
): D1PreparedStatement[] {
  const records = blocks.map(({ row, id, transactionId, record }) => [
    row,
    id,
    transactionId ?? null,
    toBase64(record),
  ]);
  const own = new Set(blocks.map(({ row }) => row));
  const parents = new Set(blocks.flatMap((block) => block.parents).filter((row) => !own.has(row)));
  const mentioned = blocks.flatMap((block) =>
    block.mentioned.map((output) => ({ ...output, by: block.row })),
  );
  return [
    requireGeneration(db, generation),
    ...forEachPiece(db, REQUIRE_PARENTS, [...parents]),
    ...forEachPiece(db, INSERT_BLOCKS, records),
    ...forEachPiece(
      db,
      INSERT_BYTES,
      blocks.map(({ row, bytes }) => [row, toBase64(bytes)]),
    ),
    ...forEachPiece(
      db,
      INSERT_OUTPUTS,
      mentioned.map(({ row, id, bytes, nftId, by }) => [
        row,
        id,
        bytes ? toBase64(bytes) : null,
        nftId ?? null,
        by,
      ]),
    ),
    ...forEachPiece(
      db,
      INSERT_INPUTS,
      blocks.flatMap(({ row, inputs }) => inputs.map((output) => [row, output])),
    ),
    ...forEachPiece(
      db,
      INSERT_WAITING,
      blocks.flatMap(({ row, waitingFor }) => waitingFor.map((output) => [output, row])),
    ),
  ];
}

/** Blocks that wait for one of the outputs with the IDs ?1. */
const SELECT_WAITING = `
  SELECT DISTINCT w.block AS row
  FROM json_each(?1) j JOIN output o ON o.id = j.value JOIN waiting w ON w.output = o.row`;

const SELECT_STORED = `
  SELECT b.row, b.record, x.bytes FROM json_each(?1) j JOIN block b ON b.row = j.value JOIN block_bytes x ON x.row = b.row`;

const UPDATE_RECORDS = `
  UPDATE block SET record = j.value ->> 1 FROM json_each(?1) j WHERE block.row = j.value ->> 0 AND record IS NOT NULL`;

/** By what the blocks consume: the table has its rows in the order of the outputs. */
export const DELETE_WAITING = `
  DELETE FROM waiting WHERE (output, block) IN (
    SELECT i.output, i.block FROM json_each(?1) j JOIN input i ON i.block = j.value)`;

/** IDs of the outputs that the blocks' transactions create. */
export function createdOutputIds(blocks: readonly PreparedBlock[]): string[] {
  return blocks.flatMap(({ mentioned }) => mentioned.flatMap(({ id, bytes }) => (bytes ? id : [])));
}

/**
 * Completes the records of stored blocks that waited for outputs with these IDs, whose contents are known now. Where it did not run, a request that needs
 * such a verdict makes it itself.
 */
export async function settleWaiting(
  db: Database,
  generation: string,
  outputs: readonly string[],
  verify: VerifySignature,
): Promise<void> {
  const waiting = (await runBatch(db, forEachPiece(db, SELECT_WAITING, outputs))).flat();
  if (waiting.length === 0) return;
  const rows = [...new Set(waiting.map(({ row }) => Number(row)))];
  const completed = await completeStored(db, generation, rows, verify);
  const records = [...completed].map(([row, record]) => [row, toBase64(record)]);
  await runFenced(db, [
    requireGeneration(db, generation),
    ...forEachPiece(db, UPDATE_RECORDS, records),
    ...forEachPiece(db, DELETE_WAITING, [...completed.keys()]),
  ]);
}

/**
 * Records with their verdicts, by row, of stored blocks whose verdict was open and can now be made. Throws LedgerMoved when the rows are of another
 * generation than D1 is now.
 *
 * @param extra contents of outputs that D1 does not have, by hex ID
 */
export async function completeStored(
  db: Database,
  generation: string,
  rows: readonly number[],
  verify: VerifySignature,
  extra: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<Map<number, Uint8Array>> {
  const stored = (await runBatch(db, forEachPiece(db, SELECT_STORED, rows)))
    .flat()
    .map(({ row, record, bytes }) => {
      const parsed = parseBlock(fromBase64(String(bytes)));
      if (!parsed.ok) throw new Error(`stored block row ${row} does not parse: ${parsed.reason}`);
      return { row: Number(row), record: fromBase64(String(record)), parsed: parsed.parsed };
    });
  const { outputs, ...now } = await lookUpOutputs(
    db,
    mentionedOutputIds(stored.map(({ parsed }) => parsed)),
  );
  if (now.generation !== generation) throw new LedgerMoved('the ledger was replaced');
  const contents = new Map(extra);
  for (const [id, { bytes }] of outputs) if (bytes) contents.set(id, bytes);
  const completed = new Map<number, Uint8Array>();
  for (const { row, record, parsed } of stored) {
    const whole = await completeRecord(record, parsed, contents, verify);
    if (whole !== undefined) completed.set(row, whole);
  }
  return completed;
}

/**
 * Statements that take the mark of inadmissible blocks back, because a milestone whose roots are right references them: the network admitted them, under
 * parameters that we do not know (design §5).
 */
export function admitStatements(
  db: Database,
  cone: Cone,
  order: Uint32Array,
): D1PreparedStatement[] {
  const admitted = [...order]
    .filter((position) => cone.inadmissibleAt(position))
    .map((position) => cone.recordAt(position));
  const records = admitted
    .map(decodeRecord)
    .map((record) => [record.row, toBase64(encodeRecord({ ...record, inadmissible: false }))]);
  return forEachPiece(db, UPDATE_RECORDS, records);
}
