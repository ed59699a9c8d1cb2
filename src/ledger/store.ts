/**
 * Storing blocks: not referenced by any milestone yet, so that they change no answer until a proposal reaches them.
 */
import { parseBlock } from '../stardust/block.ts';
import { fromBase64, toBase64 } from '../stardust/bytes.ts';
import type { VerifySignature } from '../stardust/milestone-keys.ts';
import { type Cone, decodeRecord, encodeRecord } from '../stardust/record.ts';
import { completeRecord, mentionedOutputIds, type RecordedBlock } from './intake.ts';
import { lookUpOutputs } from './lookup.ts';
import { type Database, forEachPiece, runBatch } from './rows.ts';

const INSERT_BLOCKS = `
  INSERT INTO block (row, id, tx, record, seen)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, ?2 FROM json_each(?1)`;

const INSERT_BYTES = 'INSERT INTO block_bytes (row, bytes) SELECT value ->> 0, value ->> 1 FROM json_each(?1)';

/** Fails where an ID has another row by now (seen must not be NULL) or a row another ID (it is the primary key). */
const INSERT_OUTPUTS = `
  INSERT INTO output (row, id, bytes, nft, seen)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, ?2 FROM json_each(?1) WHERE true
  ON CONFLICT (id) DO UPDATE SET
    bytes = coalesce(bytes, excluded.bytes), nft = coalesce(nft, excluded.nft),
    seen = CASE WHEN row = excluded.row THEN max(seen, excluded.seen) END`;

const INSERT_INPUTS = 'INSERT INTO input (block, output) SELECT value ->> 0, value ->> 1 FROM json_each(?1)';

const INSERT_WAITING = 'INSERT INTO waiting (output, block) SELECT value ->> 0, value ->> 1 FROM json_each(?1)';

/**
 * Statements that store the blocks; run them as one batch. They fail, all of them, when another writer took the rows in between.
 *
 * @param ledger the ledger index, by which blocks that nobody references are pruned later
 */
export function storeStatements(db: Database, blocks: readonly RecordedBlock[], ledger: number): D1PreparedStatement[] {
  const records = blocks.map(({ row, id, transactionId, record }) => [
    row,
    id,
    transactionId ?? null,
    toBase64(record),
  ]);
  const mentioned = blocks.flatMap((block) => block.mentioned);
  return [
    ...forEachPiece(db, INSERT_BLOCKS, records, ledger),
    ...forEachPiece(
      db,
      INSERT_BYTES,
      blocks.map(({ row, bytes }) => [row, toBase64(bytes)]),
    ),
    ...forEachPiece(
      db,
      INSERT_OUTPUTS,
      mentioned.map(({ row, id, bytes, nftId }) => [row, id, bytes ? toBase64(bytes) : null, nftId ?? null]),
      ledger,
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

/** Blocks that wait for one of the outputs with the rows ?1. */
const SELECT_WAITING = 'SELECT DISTINCT w.block AS row FROM json_each(?1) j JOIN waiting w ON w.output = j.value';

const SELECT_STORED = `
  SELECT b.row, b.record, x.bytes FROM json_each(?1) j JOIN block b ON b.row = j.value JOIN block_bytes x ON x.row = b.row`;

const UPDATE_RECORDS = `
  UPDATE block SET record = j.value ->> 1 FROM json_each(?1) j WHERE block.row = j.value ->> 0 AND record IS NOT NULL`;

const DELETE_WAITING = 'DELETE FROM waiting WHERE block IN (SELECT value ->> 0 FROM json_each(?1))';

/**
 * Completes the records of stored blocks that waited for outputs which these blocks create. Where it did not run, a request that needs such a verdict
 * makes it itself.
 */
export async function settleWaiting(
  db: Database,
  blocks: readonly RecordedBlock[],
  verify: VerifySignature,
): Promise<void> {
  const created = blocks.flatMap(({ mentioned }) => mentioned.filter(({ bytes }) => bytes !== undefined));
  const waiting = await runBatch(
    db,
    forEachPiece(
      db,
      SELECT_WAITING,
      created.map(({ row }) => row),
    ),
  );
  const rows = waiting.flat().map(({ row }) => Number(row));
  if (rows.length === 0) return;
  const completed = [...(await completeStored(db, rows, verify))].map(([row, record]) => [row, toBase64(record)]);
  await runBatch(db, [...forEachPiece(db, UPDATE_RECORDS, completed), ...forEachPiece(db, DELETE_WAITING, completed)]);
}

/**
 * Records with their verdicts, by row, of stored blocks whose verdict was open and can now be made.
 *
 * @param extra contents of outputs that D1 does not have, by hex ID
 */
export async function completeStored(
  db: Database,
  rows: readonly number[],
  verify: VerifySignature,
  extra: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<Map<number, Uint8Array>> {
  const stored = (await runBatch(db, forEachPiece(db, SELECT_STORED, rows))).flat().map(({ row, record, bytes }) => {
    const parsed = parseBlock(fromBase64(String(bytes)));
    if (!parsed.ok) throw new Error(`stored block row ${row} does not parse: ${parsed.reason}`);
    return { row: Number(row), record: fromBase64(String(record)), parsed: parsed.parsed };
  });
  const { outputs } = await lookUpOutputs(db, mentionedOutputIds(stored.map(({ parsed }) => parsed)));
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
export function admitStatements(db: Database, cone: Cone, order: Uint32Array): D1PreparedStatement[] {
  const admitted = [...order]
    .filter((position) => cone.inadmissibleAt(position))
    .map((position) => cone.recordAt(position));
  const records = admitted
    .map(decodeRecord)
    .map((record) => [record.row, toBase64(encodeRecord({ ...record, inadmissible: false }))]);
  return forEachPiece(db, UPDATE_RECORDS, records);
}
