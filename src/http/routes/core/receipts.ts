/**
 * GET /api/core/v2/treasury, /api/core/v2/receipts and …/receipts/:migratedAt (TIP-25;
 * docs/contract.md#receipts-and-treasury).
 */
import { optionToJson } from '../../../stardust/json/rest-json.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { noLedger } from '../../ledger-answer.ts';
import { receiptOptionSchema } from '../../openapi/block-schemas.ts';
import {
  arrayOf,
  hashSchema,
  milestoneIndexSchema,
  named,
  objectOf,
  uint64Schema,
} from '../../openapi/json-schema.ts';
import { inPath, type Operations, type RouteTable } from '../../openapi/operation.ts';
import type { RouteContext } from '../../route.ts';
import { MilestoneIndex, parseMilestoneIndex } from '../../schemas.ts';

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
  const treasury = await node.readTreasury();
  if (treasury === undefined) throw noLedger();
  const { milestoneId, amount, ledgerIndex } = treasury;
  return jsonAnswer({ milestoneId: `0x${milestoneId}`, amount: `${amount}` }, { ledgerIndex });
}

async function answerReceipts({ params, node }: RouteContext): Promise<Answer> {
  const migratedAt =
    params.migratedAt === undefined
      ? undefined
      : parseMilestoneIndex(params.migratedAt, 'the index of the migration');
  const found = await node.readReceipts(migratedAt);
  if (found === undefined) throw noLedger();
  const receipts = found.receipts.map(({ receipt, milestoneIndex }) => ({
    receipt: optionToJson(receipt),
    milestoneIndex,
  }));
  return jsonAnswer({ receipts }, { ledgerIndex: found.ledgerIndex });
}

export function describeReceipts(): Operations<typeof receiptRoutes> {
  const receipts = named(
    'Receipts',
    objectOf({
      receipts: arrayOf(
        named(
          'Receipt',
          objectOf({ receipt: receiptOptionSchema, milestoneIndex: milestoneIndexSchema }),
        ),
      ),
    }),
  );
  return {
    listReceipts: {
      tag: 'core',
      summary: 'All receipts of the migration from the legacy network (TIP-25)',
      answer: { description: 'The receipts.', schema: receipts, ledgerIndex: 'named' },
      example: { path: '/api/core/v2/receipts' },
    },
    listReceiptsOf: {
      tag: 'core',
      summary: 'The receipts of one milestone of the legacy network (TIP-25)',
      parameters: [inPath('migratedAt', MilestoneIndex, 'Milestone index of the legacy network.')],
      answer: { description: 'The receipts.', schema: receipts, ledgerIndex: 'named' },
      errors: [400],
      example: { path: '/api/core/v2/receipts/0' },
    },
    readTreasury: {
      tag: 'core',
      summary: 'The treasury (TIP-25)',
      answer: {
        description: 'The milestone that created the treasury output, and its amount.',
        schema: named('Treasury', objectOf({ milestoneId: hashSchema, amount: uint64Schema })),
        ledgerIndex: 'named',
      },
      example: { path: '/api/core/v2/treasury' },
    },
  };
}
