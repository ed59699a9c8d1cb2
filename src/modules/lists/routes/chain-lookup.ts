/**
 * GET /api/indexer/v1/outputs/alias/:aliasId and …/foundry/:foundryId: the unspent output of an
 * alias or a foundry (TIP-26; docs/contract.md#aliases-and-foundries).
 */
import type * as v from 'valibot';
import type { Answer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import { atLedger, objectAnswer } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPath, type Operation, type Operations } from '../../../http/openapi/operation.ts';
import { FoundryId, Id, parseId } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { readOutputOfChain } from '../read-list.ts';
import { NEEDS_INDEX, notIndexed } from './output-lists.ts';

export const chainLookupRoutes = {
  lookUpAlias: {
    method: 'GET',
    path: '/api/indexer/v1/outputs/alias/:aliasId+',
    keep: 'ledger',
    handle: (context) => answerChain(context, 'alias', Id, context.params.aliasId),
  },
  lookUpFoundry: {
    method: 'GET',
    path: '/api/indexer/v1/outputs/foundry/:foundryId+',
    keep: 'ledger',
    handle: (context) => answerChain(context, 'foundry', FoundryId, context.params.foundryId),
  },
} satisfies RouteTable;

async function answerChain(
  context: RouteContext,
  kind: 'alias' | 'foundry',
  schema: v.GenericSchema<string>,
  text: string | undefined,
): Promise<Answer> {
  const id = parseId(schema, text, `the ${kind} ID`);
  return atLedger(
    context,
    (db) => readOutputOfChain(db, kind, id),
    (found) => {
      if (!found.ok) throw notIndexed(found, context.settings);
      const { ledgerIndex, outputId } = found;
      if (outputId === null)
        throw new HttpError(
          404,
          `no unspent output with this ${kind} ID at ledger index ${ledgerIndex}`,
        );
      const body = { ledgerIndex, items: [`0x${outputId}`] };
      return objectAnswer(context.request, ledgerIndex, body, outputId);
    },
  );
}

export function describeChainLookup(): Operations<typeof chainLookupRoutes> {
  const answerSchema = json.namedObject('ChainLookup', {
    ledgerIndex: json.milestoneIndexSchema,
    items: json.arrayOf(json.outputIdSchema, { minItems: 1, maxItems: 1 }),
  });
  const describe = (kind: string, schema: v.GenericSchema, bytes: number): Operation => ({
    tag: 'indexer',
    summary: `The unspent output of ${kind} (TIP-26)`,
    description: NEEDS_INDEX,
    parameters: [inPath(`${kind.split(' ')[1]}Id`, schema, `ID of ${kind}, ${bytes} bytes.`)],
    answer: {
      description: 'The output that holds it.',
      schema: answerSchema,
      ledgerIndex: 'tagged',
    },
  });
  return {
    lookUpAlias: describe('an alias', Id, 32),
    lookUpFoundry: describe('a foundry', FoundryId, 38),
  };
}
