/**
 * GET /api/core/v2/treasury, /api/core/v2/receipts and …/receipts/:migratedAt (TIP-25;
 * docs/contract.md#receipts-and-treasury).
 */
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import { noLedger } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPath, type Operations } from '../../../http/openapi/operation.ts';
import { MilestoneIndex, parseMilestoneIndex } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import type { Database } from '../../../ledger/core/database.ts';
import { readHead, selectHead } from '../../../ledger/core/head.ts';
import { many, one, type Row, readBatch } from '../../../ledger/core/read-batch.ts';
import { fromBase64 } from '../../../stardust/encoding/base64.ts';
import { decode } from '../../../stardust/encoding/codec.ts';
import { optionToJson } from '../../../stardust/json/rest-json.ts';
import { receiptOption } from '../../../stardust/wire/milestone.ts';
import { receiptOptionSchema } from '../block-schemas.ts';

const scan = { method: 'GET', limit: 'scanLimit', handle: answerReceipts } as const;

export const receiptRoutes = {
  listReceipts: { ...scan, path: '/api/core/v2/receipts' },
  listReceiptsOf: { ...scan, path: '/api/core/v2/receipts/:migratedAt' },
  readTreasury: {
    method: 'GET',
    path: '/api/core/v2/treasury',
    keep: 'second',
    handle: answerTreasury,
  },
} satisfies RouteTable;

async function answerTreasury({ node }: RouteContext): Promise<Answer> {
  const treasury = await readTreasury(node.session());
  if (treasury === undefined) throw noLedger();
  const { milestoneId, amount, ledgerIndex } = treasury;
  return jsonAnswer({ milestoneId: `0x${milestoneId}`, amount: `${amount}` }, { ledgerIndex });
}

async function answerReceipts({ params, node }: RouteContext): Promise<Answer> {
  const migratedAt =
    params.migratedAt === undefined
      ? undefined
      : parseMilestoneIndex(params.migratedAt, 'the index of the migration');
  const found = await readReceipts(node.session(), migratedAt);
  if (found === undefined) throw noLedger();
  if (found === 'too-many')
    throw new HttpError(500, 'these are more receipts than one answer takes');
  const receipts = found.receipts.map(({ receipt, milestoneIndex }) => ({
    receipt: optionToJson(receipt),
    milestoneIndex,
  }));
  return jsonAnswer({ receipts }, { ledgerIndex: found.ledgerIndex });
}

export function describeReceipts(): Operations<typeof receiptRoutes> {
  const receipts = json.namedObject('Receipts', {
    receipts: json.arrayOf(
      json.namedObject('Receipt', {
        receipt: receiptOptionSchema,
        milestoneIndex: json.milestoneIndexSchema,
      }),
    ),
  });
  return {
    listReceipts: {
      tag: 'core',
      summary: 'All receipts of the migration from the legacy network (TIP-25)',
      answer: { description: 'The receipts.', schema: receipts, ledgerIndex: 'named' },
      example: '/api/core/v2/receipts',
    },
    listReceiptsOf: {
      tag: 'core',
      summary: 'The receipts of one milestone of the legacy network (TIP-25)',
      parameters: [inPath('migratedAt', MilestoneIndex, 'Milestone index of the legacy network.')],
      answer: { description: 'The receipts.', schema: receipts, ledgerIndex: 'named' },
      errors: [400],
      example: '/api/core/v2/receipts/0',
    },
    readTreasury: {
      tag: 'core',
      summary: 'The treasury (TIP-25)',
      answer: {
        description: 'The milestone that created the treasury output, and its amount.',
        schema: json.namedObject('Treasury', {
          milestoneId: json.hashSchema,
          amount: json.uint64Schema,
        }),
        ledgerIndex: 'named',
      },
      example: '/api/core/v2/treasury',
    },
  };
}

/** Bytes, in base64, of the receipts of one answer: 33,000 funds. */
const MAX_RECEIPT_BYTES = 4_000_000;

/** More than fit: one with one fund has 200 bytes. Receipts are never pruned. */
const MANY_RECEIPTS = MAX_RECEIPT_BYTES / 160;

const selectSome = (asked: string) => `
  SELECT * FROM receipt WHERE ${asked} ORDER BY migrated_at, milestone LIMIT ${MANY_RECEIPTS}`;

const selectBytes = (asked: string) =>
  `SELECT coalesce(sum(length(bytes)), 0) AS bytes FROM (${selectSome(asked)})`;

const selectReceipts = (asked: string) =>
  `SELECT * FROM (${selectSome(asked)}) WHERE (${selectBytes(asked)}) <= ${MAX_RECEIPT_BYTES}`;

/**
 * Returns receipts by the legacy network's milestone, then by ours; undefined if nothing was
 * imported; `too-many` beyond {@link MAX_RECEIPT_BYTES}.
 *
 * @param migratedAt of the legacy network's milestone; absent: all of them
 */
export async function readReceipts(db: Database, migratedAt?: number) {
  const asked = migratedAt === undefined ? '?1 IS NULL' : 'migrated_at = ?1';
  const select = (sql: (asked: string) => string) =>
    db.prepare(sql(asked)).bind(migratedAt ?? null);
  const { head, bytes, receipts } = await readBatch(db, {
    head: selectHead(db),
    bytes: one(select(selectBytes), (row) => row.integer('bytes')),
    receipts: many(select(selectReceipts), receiptFromRow),
  });
  if (bytes! > MAX_RECEIPT_BYTES) return 'too-many';
  return head && { receipts, ledgerIndex: head.ledger };
}

function receiptFromRow(row: Row) {
  row.requireSum('receipt');
  const receipt = decode(receiptOption, fromBase64(row.text('bytes')));
  return { receipt, milestoneIndex: row.integer('milestone') };
}

/** Undefined where nothing was imported. */
export async function readTreasury(db: Database) {
  const head = await readHead(db);
  return head && { ...head.treasury, ledgerIndex: head.ledger };
}
