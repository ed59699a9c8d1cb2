/**
 * Applying a verified milestone: everything that it changes, in one batch behind a fence (protocol.md E.5; design §5).
 *
 * The blocks are stored before. The batch marks them, creates and spends outputs, follows the NFTs and moves the head; it fails as a whole when the
 * ledger is not the one that the milestone was verified on, or when anything is not there that it counts on.
 */

import { toBase64, toHexDigits } from '../stardust/bytes.ts';
import { encode } from '../stardust/codec.ts';
import {
  announcedParameters,
  type Milestone,
  protocolParametersOption,
  receiptOf,
  receiptOption,
} from '../stardust/milestone.ts';
import { migratedOutputs } from '../stardust/receipt.ts';
import { treasuryAfter } from '../stardust/treasury.ts';
import type { Cone } from '../stardust/white-flag/cone.ts';
import { NOT_A_TRANSACTION, type WhiteFlag } from '../stardust/white-flag/walk.ts';
import { type Database, forEachPiece } from './database.ts';
import { failUnless } from './fence.ts';
import type { Head } from './head.ts';

export interface VerifiedMilestone {
  milestone: Milestone;
  /** 32 bytes. */
  id: Uint8Array;
  /** The payload as received. */
  payload: Uint8Array;
}

/** The ledger moves on, if it still stands where the milestone was verified: ledger must not be NULL. */
const MOVE_HEAD = `
  UPDATE head SET
    ledger = CASE WHEN ledger = ?1 - 1 AND generation = ?2 THEN ?1 END,
    treasury_milestone = coalesce(?3, treasury_milestone), treasury_amount = coalesce(?4, treasury_amount)`;

const INSERT_MILESTONE =
  'INSERT INTO milestone (idx, id, timestamp, payload) VALUES (?1, ?2, ?3, ?4)';

/** The plus keeps SQLite from going through all open blocks for each of them. */
const REFERENCE_BLOCKS = `
  UPDATE block SET milestone = ?2, position = j.value ->> 1, reason = j.value ->> 2
  FROM json_each(?1) j WHERE block.row = j.value ->> 0 AND +block.milestone IS NULL`;

const CREATE_OUTPUTS = `
  UPDATE output SET created = ?2, created_time = ?3, block = (SELECT b.id FROM block b WHERE b.row = j.value ->> 1)
  FROM json_each(?1) j WHERE output.row = j.value ->> 0 AND output.created IS NULL AND output.bytes IS NOT NULL`;

const SPEND_OUTPUTS = `
  UPDATE output SET spent = ?2, spent_time = ?3, spent_tx = (SELECT b.tx FROM block b WHERE b.row = j.value ->> 1)
  FROM json_each(?1) j WHERE output.row = j.value ->> 0 AND output.created IS NOT NULL AND output.spent IS NULL`;

/** The row is there already where a block came before that consumes it: whoever knows the milestone can name it. */
const MIGRATE_OUTPUTS = `
  INSERT INTO output (id, bytes, block, created, created_time, seen)
  SELECT value ->> 0, value ->> 1, '${'0'.repeat(64)}', ?2, ?3, 0 FROM json_each(?1) WHERE true
  ON CONFLICT (id) DO UPDATE SET
    bytes = excluded.bytes, block = excluded.block, created = excluded.created, created_time = excluded.created_time`;

const LOG_SPENT = 'INSERT INTO spent (milestone, output) SELECT ?2, value ->> 0 FROM json_each(?1)';

/** NFTs consumed: burned, unless one of the next statement's takes their place. */
const BURN_NFTS = `
  INSERT INTO nft (id, output, changed)
  SELECT o.nft, NULL, ?2 FROM json_each(?1) j JOIN output o ON o.row = j.value ->> 0 WHERE o.nft IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET output = NULL, changed = excluded.changed`;

/** NFTs created and still unspent at the end of the milestone. */
const PLACE_NFTS = `
  INSERT INTO nft (id, output, changed)
  SELECT o.nft, o.id, ?2 FROM json_each(?1) j JOIN output o ON o.row = j.value ->> 0 WHERE o.nft IS NOT NULL AND o.spent IS NULL
  ON CONFLICT (id) DO UPDATE SET output = excluded.output, changed = excluded.changed`;

const LOG_NFTS = `
  INSERT OR IGNORE INTO nft_change (milestone, nft)
  SELECT ?2, o.nft FROM json_each(?1) j JOIN output o ON o.row = j.value ->> 0 WHERE o.nft IS NOT NULL`;

const ANNOUNCE_PARAMETERS = 'INSERT INTO parameters (target, announced, bytes) VALUES (?1, ?2, ?3)';

const INSERT_RECEIPT = 'INSERT INTO receipt (milestone, bytes) VALUES (?1, ?2)';

/** As many rows were changed as there had to be: a block of the cone may have been dropped meanwhile (orphans.ts). */
const COUNT = failUnless(`
  (SELECT count(*) FROM block WHERE milestone = ?1) = ?2
  AND (SELECT count(*) FROM spent s JOIN output o ON o.row = s.output AND o.spent = ?1 WHERE s.milestone = ?1) = ?3`);

const COUNT_CREATED = failUnless(`
  NOT EXISTS (SELECT 1 FROM json_each(?1) j LEFT JOIN output o ON o.row = j.value ->> 0 WHERE o.created IS NOT ?2)`);

/** Statements that apply the milestone; run them as one batch. */
export function applyStatements(
  db: Database,
  head: Head,
  { milestone, id, payload }: VerifiedMilestone,
  cone: Cone,
  whiteFlag: WhiteFlag,
): D1PreparedStatement[] {
  const { index, timestamp } = milestone;
  const { referenced, created, spent } = listChanges(cone, whiteFlag);
  const receipt = receiptOf(milestone);
  const migrated = receipt ? migratedOutputs(receipt, id) : [];
  const treasury = treasuryAfter(milestone, id);
  const announced = announcedParameters(milestone);
  return [
    db
      .prepare(MOVE_HEAD)
      .bind(
        index,
        head.generation,
        treasury ? toHexDigits(treasury.milestoneId) : null,
        treasury ? String(treasury.amount) : null,
      ),
    db.prepare(INSERT_MILESTONE).bind(index, toHexDigits(id), timestamp, toBase64(payload)),
    ...forEachPiece(db, REFERENCE_BLOCKS, referenced, index),
    ...forEachPiece(db, CREATE_OUTPUTS, created, index, timestamp),
    ...forEachPiece(db, SPEND_OUTPUTS, spent, index, timestamp),
    ...forEachPiece(
      db,
      MIGRATE_OUTPUTS,
      migrated.map((output) => [toHexDigits(output.id), toBase64(output.bytes)]),
      index,
      timestamp,
    ),
    ...forEachPiece(db, LOG_SPENT, spent, index),
    ...forEachPiece(db, BURN_NFTS, spent, index),
    ...forEachPiece(db, PLACE_NFTS, created, index),
    ...forEachPiece(db, LOG_NFTS, [...spent, ...created], index),
    ...(announced
      ? [
          db
            .prepare(ANNOUNCE_PARAMETERS)
            .bind(
              announced.targetMilestoneIndex,
              index,
              toBase64(encode(protocolParametersOption, announced)),
            ),
        ]
      : []),
    ...(receipt
      ? [db.prepare(INSERT_RECEIPT).bind(index, toBase64(encode(receiptOption, receipt)))]
      : []),
    db.prepare(COUNT).bind(index, referenced.length, spent.length),
    ...forEachPiece(db, COUNT_CREATED, created, index),
  ];
}

type Pair = [outputRow: number, blockRow: number];

/** E.5, 7: what was created and consumed again within the milestone stands in both lists. */
function listChanges(
  cone: Cone,
  { order, reasons }: WhiteFlag,
): {
  referenced: [row: number, position: number, reason: number | null][];
  created: Pair[];
  spent: Pair[];
} {
  const referenced: [number, number, number | null][] = [];
  const created: Pair[] = [];
  const spent: Pair[] = [];
  order.forEach((at, position) => {
    const row = cone.rowAt(at);
    const reason = reasons[position]!;
    referenced.push([row, position, reason === NOT_A_TRANSACTION ? null : reason]);
    if (reason !== 0) return;
    const transaction = cone.transactionAt(at);
    for (let i = 0; i < transaction.outputCount; i++) created.push([transaction.outputAt(i), row]);
    for (let i = 0; i < transaction.inputCount; i++) spent.push([transaction.inputAt(i), row]);
  });
  return { referenced, created, spent };
}
