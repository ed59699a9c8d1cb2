/**
 * POST /api/edge/v1/whiteflag: the white flag with every block that leads to its roots
 * (docs/contract.md#explanation-of-a-proposal).
 */

import type { Decision, JudgedBlock } from '../../../node/edge-node.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { readJsonObject } from '../../body.ts';
import type { RouteContext } from '../../route.ts';
import { parseWhiteFlagBody } from '../../schemas.ts';
import { whiteFlagError } from '../core/white-flag.ts';
import { explainBlock } from './milestone-explanation.ts';

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
  const { transactionId, decided } = block;
  return {
    ...explainBlock(block, whiteFlagIndex),
    ...(transactionId !== undefined && { transactionId: `0x${transactionId}` }),
    ...(decided && decisionToJson(decided)),
  };
}

function decisionToJson({ rule, input, output }: Decision) {
  return {
    rule,
    ...(input && {
      decidingInput: {
        input: input.input,
        outputId: `0x${input.outputId}`,
        ...(input.spentBy !== undefined && { spentBy: `0x${input.spentBy}` }),
      },
    }),
    ...(output && {
      decidingOutput: { output: output.output, outputId: `0x${output.outputId}` },
    }),
  };
}
