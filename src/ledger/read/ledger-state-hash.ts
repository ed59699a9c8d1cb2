/** The state hash of the ledger in D1 (stardust/state-hash.ts), read page by page. */
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { stateHash } from '../../stardust/state-hash.ts';
import type { LedgerOutput } from '../../stardust/wire/ledger-output.ts';
import type { Database } from '../core/database.ts';
import { type Head, selectHead } from '../core/head.ts';
import { outputColumns, unspentFromRow } from '../core/output-bytes.ts';
import { many, type Row, readBatch } from '../core/read-batch.ts';

const PAGE = 1000;

interface LedgerTables {
  head: string;
  output: string;
  rests: string;
}

const SERVED: LedgerTables = { head: 'head', output: 'output', rests: 'output_rest' };

/** Hex in lower case sorts as its bytes do. */
const selectNextOutputs = ({ output, rests }: LedgerTables) => `
  SELECT ${outputColumns('o', { rests })} FROM ${output} o
  WHERE id > ?1 ORDER BY id LIMIT ${PAGE}`;

/** Throws if there is no ledger, or if it moves meanwhile: the pages would not be of one state. */
export async function ledgerStateHash(
  db: Database,
  tables: LedgerTables = SERVED,
): Promise<Uint8Array> {
  const { head, outputs } = await readPage(db, tables, '');
  const treasury = {
    milestoneId: Uint8Array.fromHex(head.treasury.milestoneId),
    amount: head.treasury.amount,
  };
  return stateHash(head.ledger, treasury, outputsFrom(db, tables, head, outputs));
}

async function* outputsFrom(
  db: Database,
  tables: LedgerTables,
  { generation, ledger }: Head,
  first: LedgerOutput[],
): AsyncGenerator<LedgerOutput, void> {
  for (let outputs = first; outputs.length > 0; ) {
    yield* outputs;
    const page = await readPage(db, tables, toHexDigits(outputs.at(-1)!.outputId));
    if (page.head.generation !== generation || page.head.ledger !== ledger)
      throw new Error('the ledger moved while its state hash was taken');
    outputs = page.outputs;
  }
}

async function readPage(
  db: Database,
  tables: LedgerTables,
  after: string,
): Promise<{ head: Head; outputs: LedgerOutput[] }> {
  const { head, outputs } = await readBatch(db, {
    head: selectHead(db, tables.head),
    outputs: many(db.prepare(selectNextOutputs(tables)).bind(after), ledgerOutputFromRow),
  });
  if (head === undefined) throw new Error('there is no ledger to take the state hash of');
  return { head, outputs };
}

/** @param row its {@link outputColumns} */
export function ledgerOutputFromRow(row: Row): LedgerOutput {
  const { id, bytes, block, created, createdTime } = unspentFromRow(row);
  return {
    outputId: Uint8Array.fromHex(id),
    blockId: Uint8Array.fromHex(block),
    bookedIndex: created,
    bookedTimestamp: createdTime,
    bytes,
  };
}
