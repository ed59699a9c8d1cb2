/**
 * POST /api/edge/v1/whiteflag: the white flag with every block that leads to its roots
 * (docs/contract.md#explanation-of-a-proposal).
 */
import { clientKeyOf } from '../../../http/access/client-address.ts';
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import type { Operations } from '../../../http/openapi/operation.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import {
  EXAMPLE_PROPOSAL,
  readProposal,
  whiteFlagError,
  whiteFlagRequestSchema,
} from '../../../http/routes/core/white-flag.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import { type Decision, explainWhiteFlag, type JudgedBlock } from '../explain-white-flag.ts';
import { explainBlock, explainedBlockFields } from './milestone-explanation.ts';

export const whiteFlagExplanationRoutes = {
  explainWhiteFlag: {
    method: 'POST',
    path: '/api/edge/v1/whiteflag',
    keep: 'never',
    limit: 'scanLimit',
    work: 'later',
    handle: answerWhiteFlagExplanation,
  },
} satisfies RouteTable;

async function answerWhiteFlagExplanation(context: RouteContext): Promise<Answer> {
  const { request, node, notes, inPlace } = context;
  const asked = await readProposal(request);
  const result = await node.answerProposal(
    asked,
    clientKeyOf(request),
    (...found) => inPlace('explanation', () => explainWhiteFlag(...found)),
    (work) => inPlace('proposal', work),
  );
  if (!result.ok) throw whiteFlagError(asked, result);
  notes.blocks = result.blocks.length;
  const explanation = {
    index: asked.index,
    timestamp: asked.timestamp,
    inclusionMerkleRoot: toHex(result.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(result.appliedMerkleRoot),
    blocks: result.blocks.map(judgedToJson),
  };
  return jsonAnswer(explanation, { ledgerIndex: asked.index - 1 });
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

export function describeWhiteFlagExplanation(): Operations<typeof whiteFlagExplanationRoutes> {
  const { required, optional } = explainedBlockFields();
  const judgedBlock = json.namedObject('JudgedBlock', required, {
    ...optional,
    transactionId: json.hashSchema,
    rule: json.described('The rule of docs/protocol.md that decided.', json.textSchema),
    decidingInput: json.namedObject(
      'DecidingInput',
      { input: json.described('Its index.', json.uint16Schema), outputId: json.outputIdSchema },
      { spentBy: json.hashSchema },
    ),
    decidingOutput: json.namedObject('DecidingOutput', {
      output: json.described('Its index.', json.uint16Schema),
      outputId: json.outputIdSchema,
    }),
  });
  return {
    explainWhiteFlag: {
      tag: 'edge',
      summary: 'The white flag, with every block that leads to its roots',
      body: whiteFlagRequestSchema,
      answer: {
        description: 'Roots, blocks and verdicts.',
        schema: json.namedObject('WhiteFlagExplanation', {
          index: json.milestoneIndexSchema,
          timestamp: json.unixTimeSchema,
          inclusionMerkleRoot: json.hashSchema,
          appliedMerkleRoot: json.hashSchema,
          blocks: json.described('In white-flag order.', json.arrayOf(judgedBlock)),
        }),
        ledgerIndex: 'named',
      },
      errors: [400, 404],
      example: '/api/edge/v1/whiteflag',
      exampleBody: EXAMPLE_PROPOSAL,
    },
  };
}
