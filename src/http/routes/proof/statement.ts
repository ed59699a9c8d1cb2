/**
 * GET /api/edge/v1/final/addresses/:bech32[?cursor=]: a page of an address's statement at a final
 * ledger (docs/contract.md#statement-of-an-address).
 */
import type { Position } from '../../../node/edge-node.ts';
import { parseBech32Address } from '../../../stardust/bech32.ts';
import {
  STATEMENT_FORMAT,
  STATEMENT_LIMIT,
  STATEMENT_PROVES,
} from '../../../stardust/proof/statement.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { HttpError } from '../../errors.ts';
import {
  arrayOf,
  bech32Schema,
  described,
  type JsonSchema,
  named,
  objectOf,
  oneOf,
  textSchema,
  uint64Schema,
  uint256Schema,
} from '../../openapi/json-schema.ts';
import type { Operations, RouteTable } from '../../openapi/operation.ts';
import { parseQueryString } from '../../query-string.ts';
import type { RouteContext } from '../../route.ts';
import { foreignAddress, notIndexed } from '../indexer/output-lists.ts';
import { finalEntrySchema, finalLedgerSchema, noFinalLedger } from './final-ledger.ts';

export const statementRoutes = {
  stateAddress: {
    method: 'GET',
    path: '/api/edge/v1/final/addresses/:address',
    query: ['cursor'],
    limit: 'scanLimit',
    handle: answerStatement,
  },
} satisfies RouteTable;

async function answerStatement({ request, params, node }: RouteContext): Promise<Answer> {
  const parsed = parseBech32Address((params.address ?? '').toLowerCase());
  if (parsed === undefined) throw new HttpError(400, 'the address is no bech32 address');
  const cursor = parseQueryString(new URL(request.url).search).get('cursor');
  const after = cursor ? parseStatementCursor(cursor) : undefined;
  const found = await node.readStatement({ ...parsed, after });
  if (found === undefined) throw noFinalLedger(undefined);
  const { ledgerIndex } = found;
  if (found.ok) return jsonAnswer(found.statement, { ledgerIndex });
  switch (found.why) {
    case 'no final ledger':
      throw noFinalLedger(found);
    case 'foreign':
      throw foreignAddress(found.prefix);
    default:
      throw notIndexed(found);
  }
}

function parseStatementCursor(text: string): Position {
  const { time, outputId } =
    /^(?<time>[0-9a-f]{8})(?<outputId>[0-9a-f]{68})$/.exec(text)?.groups ?? {};
  if (time === undefined || outputId === undefined)
    throw new HttpError(400, 'cursor: none that an answer had');
  return { createdTime: Number.parseInt(time, 16), outputId };
}

export function describeStatement(): Operations<typeof statementRoutes> {
  const count: JsonSchema = { type: 'integer', minimum: 0 };
  const cursor: JsonSchema = { type: 'string', pattern: '^[0-9a-f]{76}$' };
  const sum = named(
    'StatementSum',
    objectOf({
      outputs: count,
      amount: described(
        'Base tokens; of `depositReturn` only what is to be returned.',
        uint64Schema,
      ),
      depositReturn: described('Base tokens of it that must be returned to others.', uint64Schema),
      timelocked: described(
        'Base tokens of it on outputs with a timelock, over or not.',
        uint64Schema,
      ),
      nativeTokens: arrayOf(
        objectOf({
          id: { type: 'string', pattern: '^0x[0-9a-f]{76}$' },
          amount: uint256Schema,
        }),
      ),
    }),
  );
  const totals = objectOf({
    outputs: described('Of this page.', count),
    own: described('The address alone can unlock them, as far as no timelock holds.', sum),
    untilExpiration: described('The address can unlock them until they expire.', sum),
    fromExpiration: described('The address can unlock them once they have expired.', sum),
    governed: described('Aliases that it governs, and another address controls.', sum),
    depositReturn: described('Outputs of others that owe it a deposit.', sum),
  });
  const orNone = (what: JsonSchema) => oneOf(what, { type: 'null' });
  return {
    stateAddress: {
      tag: 'proof',
      summary: 'The unspent outputs of an address in a final ledger, each with its proof',
      description:
        'A page of up to 1,000 outputs, or of fewer with 2 MB of records. ' +
        'It proves that each output was there, and not that there were no others.',
      parameters: [
        {
          in: 'path',
          name: 'address',
          description: 'Bech32 address.',
          schema: textSchema,
          required: true,
        },
        { in: 'query', name: 'cursor', description: '`next` of the page before.', schema: cursor },
      ],
      answer: {
        description: 'A page of the statement.',
        schema: named(
          'Statement',
          objectOf({
            format: { type: 'string', const: STATEMENT_FORMAT },
            address: bech32Schema,
            ledger: finalLedgerSchema,
            proves: { type: 'string', const: STATEMENT_PROVES },
            doesNotProve: { type: 'string', const: STATEMENT_LIMIT },
            after: described(
              'The cursor that the page was asked for with; null: the first.',
              orNone(cursor),
            ),
            next: described('The cursor of the next page; null: this is the last.', orNone(cursor)),
            totals: named('StatementTotals', totals),
            outputs: described('By time of creation, then by ID.', arrayOf(finalEntrySchema)),
          }),
        ),
        ledgerIndex: 'named',
      },
      errors: [400, 404],
    },
  };
}
