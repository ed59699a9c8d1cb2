/**
 * GET /api/indexer/v1/outputs and …/outputs/KIND: the unspent outputs of all kinds, or of one, with
 * given properties, page by page (TIP-26; docs/contract.md#lists).
 */
import type { Answer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import { atLedger, hashedAnswer } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inQuery, type Operation, type Operations } from '../../../http/openapi/operation.ts';
import {
  LEDGER_SCAN,
  type Route,
  type RouteContext,
  type RouteTable,
} from '../../../http/route.ts';
import {
  type IndexSettings,
  type Kind,
  type NotIndexed,
  wantsIndex,
} from '../../../ledger/output-list/indexed-kinds.ts';
import { MAX_NATIVE_TOKENS } from '../../../stardust/wire/syntax.ts';
import type { OutputFilters } from '../output-query.ts';
import { readOutputList } from '../read-list.ts';
import {
  FILTERS,
  formatCursor,
  MAX_PAGE_SIZE,
  MAX_TAG_LENGTH,
  parseOutputQuery,
  requirePrefix,
} from './parse-query.ts';

const LIST = '/api/indexer/v1/outputs';

export const outputListRoutes = {
  listNfts: listRoute('nft'),
  listOutputs: listRoute('all'),
  listBasicOutputs: listRoute('basic'),
  listAliases: listRoute('alias'),
  listFoundries: listRoute('foundry'),
} satisfies RouteTable;

function listRoute(kind: Kind | 'all'): Route {
  return {
    ...LEDGER_SCAN,
    path: kind === 'all' ? LIST : `${LIST}/${kind}`,
    handle: (context) => answerList(context, kind),
  };
}

async function answerList(context: RouteContext, kind: Kind | 'all'): Promise<Answer> {
  const { request, settings } = context;
  const query = parseOutputQuery(new URL(request.url).search, kind);
  return atLedger(
    context,
    (db) => readOutputList(db, query),
    (list) => {
      if (!list.ok) throw notIndexed(list, settings);
      const { ledgerIndex, prefix, page } = list;
      requirePrefix(prefix, query.prefixes);
      if (page === undefined) throw new HttpError(500, TOO_MANY);
      const { pageSize } = query;
      return hashedAnswer(request, {
        ledgerIndex,
        pageSize,
        ...(page.next && { cursor: formatCursor(page.next, pageSize) }),
        items: page.items.map(({ outputId }) => `0x${outputId}`),
      });
    },
  );
}

const TOO_MANY =
  'too many outputs would have to be looked at: ask by address, issuer, sender or time of creation';

/** The error of a ledger that does not, or not yet, index every kind of output. */
export function notIndexed({ why, ledgerIndex }: NotIndexed, settings: IndexSettings): HttpError {
  // an import begins without an index, and the follower fills it some time later
  return why === 'filling' || wantsIndex(ledgerIndex, settings)
    ? new HttpError(500, 'the index of every kind of output is being filled: try again later')
    : new HttpError(404, 'this node indexes NFTs only: INDEX=all indexes every kind of output');
}

export function describeOutputLists(): Operations<typeof outputListRoutes> {
  const pageSize = { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE };
  const tokens = { type: 'integer', minimum: 0, maximum: MAX_NATIVE_TOKENS };
  const tag = { type: 'string', pattern: `^0[xX]([0-9a-fA-F]{2}){0,${MAX_TAG_LENGTH}}$` };
  // output-query.ts is more tolerant than this, as the reference is
  const parameters: Record<
    keyof OutputFilters | 'pageSize' | 'cursor',
    [schema: json.JsonSchema, description: string]
  > = {
    address: [json.textSchema, 'The bech32 address of the address unlock condition.'],
    stateController: [json.textSchema, 'The bech32 address of the state controller.'],
    governor: [json.textSchema, 'The bech32 address of the governor.'],
    aliasAddress: [json.textSchema, 'The bech32 address of the alias that controls the foundry.'],
    unlockableByAddress: [
      json.textSchema,
      'An address in any of its unlock conditions, the returns of deposits included.',
    ],
    issuer: [json.textSchema, 'The bech32 address of the issuer, an immutable feature.'],
    sender: [json.textSchema, 'The bech32 address of the sender feature.'],
    tag: [tag, 'The tag feature.'],
    hasStorageDepositReturn: [json.flagSchema, 'Whether a storage deposit is to be returned.'],
    storageDepositReturnAddress: [
      json.textSchema,
      'The bech32 address that it is to be returned to.',
    ],
    hasTimelock: [json.flagSchema, 'Whether there is a timelock, over or not.'],
    timelockedBefore: [json.unixTimeSchema, 'The timelock ends before this time.'],
    timelockedAfter: [json.unixTimeSchema, 'The timelock ends after this time.'],
    hasExpiration: [json.flagSchema, 'Whether there is an expiration, passed or not.'],
    expiresBefore: [json.unixTimeSchema, 'The output expires before this time.'],
    expiresAfter: [json.unixTimeSchema, 'The output expires after this time.'],
    expirationReturnAddress: [json.textSchema, 'The bech32 address that it goes to then.'],
    hasNativeTokens: [json.flagSchema, 'Whether the output holds native tokens.'],
    minNativeTokenCount: [tokens, 'The fewest kinds of native tokens.'],
    maxNativeTokenCount: [tokens, 'The most kinds of native tokens.'],
    createdBefore: [
      json.unixTimeSchema,
      'The milestone that created the output is before this time.',
    ],
    createdAfter: [
      json.unixTimeSchema,
      'The milestone that created the output is after this time.',
    ],
    pageSize: [pageSize, `The most items of the answer. Default: ${MAX_PAGE_SIZE}.`],
    cursor: [
      json.listCursorSchema,
      "Another answer's cursor. Its page size counts, not `pageSize`.",
    ],
  };
  const schema = json.namedObject(
    'OutputList',
    {
      ledgerIndex: json.milestoneIndexSchema,
      pageSize: { ...pageSize, minimum: 0 },
      items: json.described('By time of creation, then by ID.', json.arrayOf(json.outputIdSchema)),
    },
    {
      cursor: json.described('For the next page; absent on the last one.', json.listCursorSchema),
    },
  );
  const describe = (kind: Kind | 'all', outputs: string): Operation => ({
    tag: 'indexer',
    summary: `The unspent ${outputs} with given properties, page by page (TIP-26)`,
    ...(kind !== 'nft' && { description: NEEDS_INDEX }),
    parameters: ([...FILTERS[kind], 'pageSize', 'cursor'] as const).map((name) => {
      const [schema, description] = parameters[name];
      return inQuery(name, schema, description);
    }),
    answer: { description: 'A page of the list.', schema, ledgerIndex: 'tagged' },
    ...(kind === 'nft' && { example: `${LIST}/nft?pageSize=2` }),
  });
  return {
    listNfts: describe('nft', 'NFT outputs'),
    listOutputs: describe('all', 'outputs of every kind'),
    listBasicOutputs: describe('basic', 'basic outputs'),
    listAliases: describe('alias', 'alias outputs'),
    listFoundries: describe('foundry', 'foundry outputs'),
  };
}

export const NEEDS_INDEX =
  '404 unless the node indexes every kind of output; `/api/routes` says which it indexes.';
