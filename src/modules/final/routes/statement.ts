/**
 * GET /api/edge/v1/final/addresses/:bech32[?cursor=]: a page of an address's statement at a final
 * ledger (docs/contract.md#statement-of-an-address).
 */
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPath, inQuery, type Operations } from '../../../http/openapi/operation.ts';
import { parseQueryString } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { parseBech32Address } from '../../../stardust/bech32.ts';
import {
  STATEMENT_FORMAT,
  STATEMENT_LIMIT,
  STATEMENT_PROVES,
} from '../../../stardust/proof/statement.ts';
import type { Position } from '../../lists/output-query.ts';
import { notIndexed } from '../../lists/routes/output-lists.ts';
import { foreignAddress } from '../../lists/routes/parse-query.ts';
import { readStatement, type StatementLimits } from '../read-statement.ts';
import {
  finalEntrySchema,
  finalLedgerSchema,
  finalMilestoneOf,
  noFinalLedger,
} from './final-ledger.ts';

export const statementRoutes = (limits?: StatementLimits) =>
  ({
    stateAddress: {
      method: 'GET',
      path: '/api/edge/v1/final/addresses/:address',
      query: ['cursor'],
      limit: 'scanLimit',
      handle: (context) => answerStatement(context, limits),
    },
  }) satisfies RouteTable;

async function answerStatement(
  { request, params, node, settings }: RouteContext,
  limits: StatementLimits | undefined,
): Promise<Answer> {
  const parsed = parseBech32Address((params.address ?? '').toLowerCase());
  if (parsed === undefined) throw new HttpError(400, 'the address is no bech32 address');
  const cursor = parseQueryString(new URL(request.url).search).get('cursor');
  const after = cursor ? parseStatementCursor(cursor) : undefined;
  const milestone = finalMilestoneOf(settings);
  const found = await readStatement(node.session(), milestone, { ...parsed, after }, limits);
  const { ledgerIndex } = found;
  if (found.ok) return jsonAnswer(found.statement, { ledgerIndex });
  if (found.why === 'foreign') throw foreignAddress(found.prefix);
  throw found.why === 'no final ledger' ? noFinalLedger(found) : notIndexed(found, settings);
}

function parseStatementCursor(text: string): Position {
  const { time, outputId } =
    /^(?<time>[0-9a-f]{8})(?<outputId>[0-9a-f]{68})$/.exec(text)?.groups ?? {};
  if (time === undefined || outputId === undefined)
    throw new HttpError(400, 'cursor: none that an answer had');
  return { createdTime: Number.parseInt(time, 16), outputId };
}

export function describeStatement(): Operations<ReturnType<typeof statementRoutes>> {
  const count: json.JsonSchema = { type: 'integer', minimum: 0 };
  const cursor: json.JsonSchema = { type: 'string', pattern: '^[0-9a-f]{76}$' };
  const sum = json.namedObject('StatementSum', {
    outputs: count,
    amount: json.described(
      'Base tokens; of `depositReturn` only what is to be returned.',
      json.uint64Schema,
    ),
    depositReturn: json.described(
      'Base tokens of it that must be returned to others.',
      json.uint64Schema,
    ),
    timelocked: json.described(
      'Base tokens of it on outputs with a timelock, over or not.',
      json.uint64Schema,
    ),
    nativeTokens: json.arrayOf(
      json.objectOf({
        id: { type: 'string', pattern: '^0x[0-9a-f]{76}$' },
        amount: json.uint256Schema,
      }),
    ),
  });
  const totals = json.objectOf({
    outputs: json.described('Of this page.', count),
    own: json.described('Its outputs; aliases whose state it controls, whoever governs them.', sum),
    untilExpiration: json.described('Its outputs until they expire.', sum),
    fromExpiration: json.described('Its outputs once they have expired.', sum),
    governed: json.described('Aliases that it governs, and another address controls.', sum),
    depositReturn: json.described('Outputs of others that owe it a deposit.', sum),
  });
  return {
    stateAddress: {
      tag: 'proof',
      summary: 'The unspent outputs of an address in a final ledger, each with its proof',
      description:
        'A page of up to 1,000 outputs, or of fewer with 2 MB of records. ' +
        'It proves that each output was there, and not that there were no others.',
      parameters: [
        inPath('address', json.textSchema, 'Bech32 address.'),
        inQuery('cursor', cursor, '`next` of the page before.'),
      ],
      answer: {
        description: 'A page of the statement.',
        schema: json.namedObject('Statement', {
          format: { type: 'string', const: STATEMENT_FORMAT },
          address: json.bech32Schema,
          ledger: finalLedgerSchema,
          proves: { type: 'string', const: STATEMENT_PROVES },
          doesNotProve: { type: 'string', const: STATEMENT_LIMIT },
          after: json.described(
            'The cursor that the page was asked for with; null: the first.',
            json.orNull(cursor),
          ),
          next: json.described(
            'The cursor of the next page; null: this is the last.',
            json.orNull(cursor),
          ),
          totals: json.named('StatementTotals', totals),
          outputs: json.described(
            'By time of creation, then by ID.',
            json.arrayOf(finalEntrySchema),
          ),
        }),
        ledgerIndex: 'named',
      },
      errors: [400, 404],
    },
  };
}
