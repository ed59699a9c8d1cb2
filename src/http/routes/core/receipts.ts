/**
 * GET /api/core/v2/treasury, /api/core/v2/receipts and …/receipts/:migratedAt (TIP-25;
 * docs/contract.md#receipts-and-treasury).
 */
import { optionToJson } from '../../../stardust/json/rest-json.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { noLedger } from '../../errors.ts';
import type { RouteContext } from '../../route.ts';
import { parseMilestoneIndex } from '../../schemas.ts';

export async function answerTreasury({ node, notes }: RouteContext): Promise<Answer> {
  const treasury = await node.readTreasury();
  if (treasury === undefined) throw noLedger();
  notes.ledgerIndex = treasury.ledgerIndex;
  return jsonAnswer({ milestoneId: `0x${treasury.milestoneId}`, amount: `${treasury.amount}` });
}

export async function answerReceipts({ params, node, notes }: RouteContext): Promise<Answer> {
  const migratedAt =
    params.migratedAt === undefined
      ? undefined
      : parseMilestoneIndex(params.migratedAt, 'the index of the migration');
  const found = await node.readReceipts(migratedAt);
  if (found === undefined) throw noLedger();
  notes.ledgerIndex = found.ledgerIndex;
  const receipts = found.receipts.map(({ receipt, milestoneIndex }) => ({
    receipt: optionToJson(receipt),
    milestoneIndex,
  }));
  return jsonAnswer({ receipts });
}
