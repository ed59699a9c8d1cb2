/**
 * POST /api/edge/v1/whiteflag: the white flag with every block that leads to its roots
 * (docs/contract.md#explanation-of-a-proposal).
 */
import type { Decision, JudgedBlock } from '../../../node/edge-node.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import { clientKeyOf } from '../../access/client-address.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import {
  arrayOf,
  described,
  hashSchema,
  milestoneIndexSchema,
  named,
  objectOf,
  outputIdSchema,
  textSchema,
  uint16Schema,
  unixTimeSchema,
} from '../../openapi/json-schema.ts';
import type { Operations, RouteTable } from '../../openapi/operation.ts';
import type { RouteContext } from '../../route.ts';
import {
  EXAMPLE_PROPOSAL,
  readProposal,
  whiteFlagError,
  whiteFlagRequestSchema,
} from '../core/white-flag.ts';
import { explainBlock, explainedBlockFields } from './milestone-explanation.ts';

export const whiteFlagExplanationRoutes = {
  explainWhiteFlag: {
    method: 'POST',
    path: '/api/edge/v1/whiteflag',
    keep: 'never',
    limit: 'whiteFlagLimit',
    work: 'explanation',
    handle: answerWhiteFlagExplanation,
  },
} satisfies RouteTable;

async function answerWhiteFlagExplanation({ request, node, notes }: RouteContext): Promise<Answer> {
  const asked = await readProposal(request);
  const result = await node.explainWhiteFlag(asked, clientKeyOf(request));
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
  const judgedBlock = named(
    'JudgedBlock',
    objectOf(required, {
      ...optional,
      transactionId: hashSchema,
      rule: described('The rule of docs/protocol.md that decided.', textSchema),
      decidingInput: named(
        'DecidingInput',
        objectOf(
          { input: described('Its index.', uint16Schema), outputId: outputIdSchema },
          { spentBy: hashSchema },
        ),
      ),
      decidingOutput: named(
        'DecidingOutput',
        objectOf({ output: described('Its index.', uint16Schema), outputId: outputIdSchema }),
      ),
    }),
  );
  return {
    explainWhiteFlag: {
      tag: 'edge',
      summary: 'The white flag, with every block that leads to its roots',
      body: whiteFlagRequestSchema,
      answer: {
        description: 'Roots, blocks and verdicts.',
        schema: named(
          'WhiteFlagExplanation',
          objectOf({
            index: milestoneIndexSchema,
            timestamp: unixTimeSchema,
            inclusionMerkleRoot: hashSchema,
            appliedMerkleRoot: hashSchema,
            blocks: described('In white-flag order.', arrayOf(judgedBlock)),
          }),
        ),
        ledgerIndex: 'named',
      },
      errors: [400, 404],
      example: { path: '/api/edge/v1/whiteflag', body: EXAMPLE_PROPOSAL },
    },
  };
}
