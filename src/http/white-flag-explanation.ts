/**
 * POST /api/edge/v1/whiteflag: the white flag with every block that leads to its roots
 * (docs/contract.md#explanation-of-a-proposal).
 */

import type { JudgedBlock } from '../node/edge-node.ts';
import { toHex } from '../stardust/bytes.ts';
import { rulesOf } from '../stardust/semantics/conflict-reason.ts';
import { readJsonObject } from './body.ts';
import { explainBlock } from './milestone-explanation.ts';
import { type Answer, jsonAnswer, type RouteContext } from './route.ts';
import { parseWhiteFlagBody } from './schemas.ts';
import { whiteFlagError } from './white-flag.ts';

export async function answerWhiteFlagExplanation({
  request,
  node,
  notes,
}: RouteContext): Promise<Answer> {
  const asked = parseWhiteFlagBody(await readJsonObject(request));
  const result = await node.explainWhiteFlag(asked);
  if (!result.ok) throw whiteFlagError(asked, result, notes);
  notes.ledgerIndex = asked.index - 1;
  notes.blocks = result.blocks.length;
  return jsonAnswer({
    index: asked.index,
    timestamp: asked.timestamp,
    inclusionMerkleRoot: toHex(result.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(result.appliedMerkleRoot),
    blocks: result.blocks.map(judgedToJson),
  });
}

function judgedToJson(block: JudgedBlock, whiteFlagIndex: number) {
  const { reason = 0, transactionId, decidingInput } = block;
  return {
    ...explainBlock(block, whiteFlagIndex),
    ...(reason !== 0 && { rules: rulesOf(reason) }),
    ...(transactionId !== undefined && { transactionId: `0x${transactionId}` }),
    ...(decidingInput && {
      decidingInput: {
        input: decidingInput.input,
        outputId: `0x${decidingInput.outputId}`,
        ...(decidingInput.spentBy !== undefined && { spentBy: `0x${decidingInput.spentBy}` }),
      },
    }),
  };
}
