/**
 * GET /api/core/v2/outputs/:outputId and …/metadata (TIP-25): the next request after an NFT lookup.
 */
import type { OutputStatus } from '../../../node/edge-node.ts';
import { outputToJson } from '../../../stardust/json/rest-json.ts';
import { decodeOutput } from '../../../stardust/wire/ids.ts';
import type { Answer } from '../../answer.ts';
import { RAW } from '../../content-negotiation.ts';
import { UnknownHere } from '../../errors.ts';
import { atLedger, hashedObjectAnswer, readMinLedgerIndex } from '../../ledger-answer.ts';
import {
  flagSchema,
  hashSchema,
  milestoneIndexSchema,
  named,
  objectOf,
  uint16Schema,
  unixTimeSchema,
} from '../../openapi/json-schema.ts';
import { inPath, type Operations, type RouteTable } from '../../openapi/operation.ts';
import { outputSchema } from '../../openapi/output-schemas.ts';
import type { RouteContext } from '../../route.ts';
import { OutputId, parseId } from '../../schemas.ts';

export const outputRoutes = {
  readOutput: {
    method: 'GET',
    path: '/api/core/v2/outputs/:outputId',
    keep: 'ledger',
    handle: answerOutput,
  },
  readOutputMetadata: {
    method: 'GET',
    path: '/api/core/v2/outputs/:outputId/metadata',
    keep: 'ledger',
    handle: answerOutputMetadata,
  },
} satisfies RouteTable;

function answerOutput(context: RouteContext): Promise<Answer> {
  const { request } = context;
  return answerAbout(context, (found) => {
    if (request.headers.get('accept')?.startsWith(RAW)) {
      // true at any index, but not of any ledger: nothing signs the outputs of a snapshot
      const headers = { 'content-type': RAW, vary: 'accept' };
      return { keep: 'import', ledgerIndex: undefined, body: found.bytes, headers };
    }
    const body = {
      metadata: metadataToJson(found),
      output: outputToJson(decodeOutput(found.bytes)),
    };
    return hashedObjectAnswer(request, found.ledgerIndex, body, ['accept']);
  });
}

function answerOutputMetadata(context: RouteContext): Promise<Answer> {
  return answerAbout(context, (found) =>
    hashedObjectAnswer(context.request, found.ledgerIndex, metadataToJson(found)),
  );
}

async function answerAbout(
  { request, params, node }: RouteContext,
  answer: (found: OutputStatus) => Answer | Promise<Answer>,
): Promise<Answer> {
  const outputId = parseId(OutputId, params.outputId, 'the output ID');
  return atLedger(
    readMinLedgerIndex(request),
    (minLedgerIndex) => node.readOutput(outputId, minLedgerIndex),
    answer,
    () => new UnknownHere('no such output, or it was spent and is pruned'),
  );
}

export function metadataToJson({
  outputId,
  blockId,
  bookedIndex,
  bookedTimestamp,
  spent,
  ledgerIndex,
}: OutputStatus) {
  const index = Uint8Array.fromHex(outputId.slice(64));
  return {
    blockId: `0x${blockId}`,
    transactionId: `0x${outputId.slice(0, 64)}`,
    outputIndex: index[0]! + index[1]! * 256,
    isSpent: spent !== undefined,
    ...(spent && {
      milestoneIndexSpent: spent.index,
      milestoneTimestampSpent: spent.timestamp,
      transactionIdSpent: `0x${spent.transactionId}`,
    }),
    milestoneIndexBooked: bookedIndex,
    milestoneTimestampBooked: bookedTimestamp,
    ledgerIndex,
  };
}

export const outputMetadataSchema = /* @__PURE__ */ named('OutputMetadata', () =>
  objectOf(
    {
      blockId: hashSchema,
      transactionId: hashSchema,
      outputIndex: uint16Schema,
      isSpent: flagSchema,
      milestoneIndexBooked: milestoneIndexSchema,
      milestoneTimestampBooked: unixTimeSchema,
      ledgerIndex: milestoneIndexSchema,
    },
    {
      milestoneIndexSpent: milestoneIndexSchema,
      milestoneTimestampSpent: unixTimeSchema,
      transactionIdSpent: hashSchema,
    },
  ),
);

export function describeOutputs(): Operations<typeof outputRoutes> {
  const parameters = [inPath('outputId', OutputId, 'Transaction ID and output index, 34 bytes.')];
  const path =
    '/api/core/v2/outputs/0x1fed844e2f82b20517c856d368104fcd268965602c5abaf189bfed06f367e5140000';
  return {
    readOutput: {
      tag: 'core',
      summary: 'An output, unspent or spent and not pruned (TIP-25)',
      parameters,
      answer: {
        description: 'The output.',
        schema: named(
          'OutputWithMetadata',
          objectOf({ metadata: outputMetadataSchema, output: outputSchema }),
        ),
        raw: true,
        ledgerIndex: 'tagged',
      },
      errors: [400, 404],
      example: { path },
    },
    readOutputMetadata: {
      tag: 'core',
      summary: 'When an output was booked and spent (TIP-25)',
      parameters,
      answer: { description: 'The metadata.', schema: outputMetadataSchema, ledgerIndex: 'tagged' },
      errors: [400, 404],
      example: { path: `${path}/metadata` },
    },
  };
}
