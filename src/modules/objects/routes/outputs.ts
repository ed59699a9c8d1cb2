/**
 * GET /api/core/v2/outputs/:outputId and …/metadata (TIP-25): what clients ask right after an
 * NFT lookup; and GET /api/edge/v1/outputs: the unspent ones of a list at once.
 */
import * as v from 'valibot';

import type { Answer } from '../../../http/answer.ts';
import { HttpError, UnknownHere } from '../../../http/errors.ts';
import { atLedger, hashedAnswer, hashedObjectAnswer } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import {
  coreRead,
  inPath,
  inQuery,
  type Operations,
  type Parameter,
} from '../../../http/openapi/operation.ts';
import { OutputId, parseId, parseQueryString } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { readNftOutputs } from '../../../ledger/read/nft-outputs.ts';
import { type OutputStatus, readOutput } from '../../../ledger/read/output-status.ts';
import { mapInTurns } from '../../../platform/clock.ts';
import { outputToJson } from '../../../stardust/json/rest-json.ts';
import { decodeOutput } from '../../../stardust/wire/ids.ts';
import { RAW } from '../content-negotiation.ts';
import { outputSchema } from '../output-schemas.ts';

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
    handle: (context) =>
      answerAbout(context, (found) =>
        hashedObjectAnswer(context.request, found.ledgerIndex, metadataToJson(found)),
      ),
  },
  readOutputs: {
    method: 'GET',
    path: '/api/edge/v1/outputs',
    query: ['ids'],
    keep: 'ledger',
    work: 'gallery',
    handle: answerOutputs,
  },
} satisfies RouteTable;

function answerOutput(context: RouteContext): Promise<Answer> {
  const { request } = context;
  return answerAbout(context, (found) => {
    if (request.headers.get('accept')?.startsWith(RAW)) {
      // true at any index, but not of any ledger: nothing signs the outputs of a snapshot
      const headers = { 'content-type': RAW, vary: 'accept' };
      return { keep: 'second', ledgerIndex: undefined, body: found.bytes, headers };
    }
    return hashedObjectAnswer(request, found.ledgerIndex, outputToAnswer(found), ['accept']);
  });
}

async function answerAbout(
  context: RouteContext,
  answer: (found: OutputStatus) => Answer | Promise<Answer>,
): Promise<Answer> {
  const outputId = parseId(OutputId, context.params.outputId, 'the output ID');
  return atLedger(
    context,
    (db) => readOutput(db, outputId),
    answer,
    () => new UnknownHere('no such output, or it was spent and is pruned'),
  );
}

/** The most IDs of a request. */
export const MAX_IDS = 100;

/** The parameter for {@link parseIds}. */
export function describeIds(schema: v.GenericSchema, what: string): Parameter {
  const ids = v.pipe(v.array(schema), v.minLength(1), v.maxLength(MAX_IDS));
  return { ...inQuery('ids', ids, `IDs of ${what}, separated by commas.`), explode: false };
}

/** Throws an HttpError 400. */
export function parseIds(list: string, schema: v.GenericSchema<string>): string[] {
  const ids = list.split(',');
  if (ids.length > MAX_IDS) throw new HttpError(400, `ids: more than ${MAX_IDS}`);
  return ids.map((id) => parseId(schema, id, 'each of ids'));
}

function answerOutputs(context: RouteContext): Promise<Answer> {
  const { request } = context;
  const ids = parseIds(parseQueryString(new URL(request.url).search).get('ids') ?? '', OutputId);
  return atLedger(
    context,
    (db) => readNftOutputs(db, ids),
    async ({ ledgerIndex, outputs }) =>
      hashedAnswer(request, {
        ledgerIndex,
        outputs: await mapInTurns(outputs, (found) => (found ? outputToAnswer(found) : null)),
      }),
  );
}

const outputToAnswer = (found: OutputStatus) => ({
  metadata: metadataToJson(found),
  output: outputToJson(decodeOutput(found.bytes)),
});

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

export const outputMetadataSchema = /* @__PURE__ */ json.named('OutputMetadata', () =>
  json.objectOf(
    {
      blockId: json.hashSchema,
      transactionId: json.hashSchema,
      outputIndex: json.uint16Schema,
      isSpent: json.flagSchema,
      milestoneIndexBooked: json.milestoneIndexSchema,
      milestoneTimestampBooked: json.unixTimeSchema,
      ledgerIndex: json.milestoneIndexSchema,
    },
    {
      milestoneIndexSpent: json.milestoneIndexSchema,
      milestoneTimestampSpent: json.unixTimeSchema,
      transactionIdSpent: json.hashSchema,
    },
  ),
);

export function describeOutputs(): Operations<typeof outputRoutes> {
  const parameter = inPath('outputId', OutputId, 'Transaction ID and output index, 34 bytes.');
  const id = '0x1fed844e2f82b20517c856d368104fcd268965602c5abaf189bfed06f367e5140000';
  const path = `/api/core/v2/outputs/${id}`;
  const schema = json.namedObject('OutputWithMetadata', {
    metadata: outputMetadataSchema,
    output: outputSchema,
  });
  return {
    readOutput: coreRead('An output, unspent or spent and not pruned', path, parameter, {
      description: 'The output.',
      schema,
      raw: true,
      ledgerIndex: 'tagged',
    }),
    readOutputMetadata: coreRead(
      'When an output was booked and spent',
      `${path}/metadata`,
      parameter,
      { description: 'The metadata.', schema: outputMetadataSchema, ledgerIndex: 'tagged' },
    ),
    readOutputs: {
      tag: 'edge',
      summary: `Up to ${MAX_IDS} unspent outputs of every kind, of one moment`,
      parameters: [{ ...describeIds(OutputId, 'outputs'), required: true }],
      answer: {
        description: 'In the order of `ids`, null where no unspent output has the ID.',
        schema: json.namedObject('Outputs', {
          ledgerIndex: json.milestoneIndexSchema,
          outputs: json.arrayOf(json.orNull(schema)),
        }),
        ledgerIndex: 'tagged',
      },
      example: `/api/edge/v1/outputs?ids=${id}`,
    },
  };
}
