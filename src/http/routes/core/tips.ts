/**
 * GET /api/core/v2/tips (TIP-25; docs/contract.md#tips): unreferenced blocks that no other block
 * approves.
 */

import { type Answer, jsonAnswer } from '../../answer.ts';
import { noLedger } from '../../errors.ts';
import type { RouteContext } from '../../route.ts';

export async function answerTips({ node, notes }: RouteContext): Promise<Answer> {
  const tips = await node.readTips();
  if (tips === undefined) throw noLedger();
  notes.ledgerIndex = tips.ledgerIndex;
  return jsonAnswer({ tips: tips.blockIds.map((id) => `0x${id}`) });
}
