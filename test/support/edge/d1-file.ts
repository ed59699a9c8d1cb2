/**
 * The D1 database of a Worker that is not running, read from its file.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { outputColumns } from '../../../src/ledger/core/output-bytes.ts';
import { Row } from '../../../src/ledger/core/read-batch.ts';
import { ledgerOutputFromRow } from '../../../src/ledger/read/ledger-state-hash.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { stateHash } from '../../../src/stardust/state-hash.ts';

export function openDatabase(persistTo: string): DatabaseSync {
  const folder = join(persistTo, 'v3/d1/miniflare-D1DatabaseObject');
  const file = readdirSync(folder).find((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  if (file === undefined) throw new Error(`no database in ${folder}`);
  return new DatabaseSync(join(folder, file));
}

/** The state hash (docs/snapshot-format.md#state-hash), 0x-hex. */
export async function readStateHash(persistTo: string): Promise<string> {
  using db = openDatabase(persistTo);
  const head = db.prepare('SELECT ledger, treasury_milestone, treasury_amount FROM head').get()!;
  const outputs = db
    .prepare(`SELECT ${outputColumns('output')} FROM output ORDER BY id`)
    .all()
    .map((row) => ledgerOutputFromRow(new Row(row)));
  const treasury = {
    milestoneId: Uint8Array.fromHex(String(head.treasury_milestone)),
    amount: BigInt(String(head.treasury_amount)),
  };
  return toHex(await stateHash(Number(head.ledger), treasury, outputs));
}
