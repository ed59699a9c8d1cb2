/**
 * GET /api/indexer/v1/outputs/nft: the unspent NFT outputs with given properties, page by page
 * (TIP-26; docs/contract.md#nft-lists).
 */
import type { NftList } from '../../../node/edge-node.ts';
import type { NftFilters } from '../../../stardust/nft-query.ts';
import { MAX_NATIVE_TOKENS } from '../../../stardust/wire/syntax.ts';
import type { Answer } from '../../answer.ts';
import { HttpError, noLedger } from '../../errors.ts';
import {
  hashTag,
  ledgerAnswer,
  readMinLedgerIndex,
  requireLedgerIndex,
} from '../../ledger-answer.ts';
import {
  arrayOf,
  described,
  flagSchema,
  type JsonSchema,
  listCursorSchema,
  milestoneIndexSchema,
  named,
  objectOf,
  outputIdSchema,
  textSchema,
  unixTimeSchema,
} from '../../openapi/json-schema.ts';
import type { Operations, RouteTable } from '../../openapi/operation.ts';
import type { RouteContext } from '../../route.ts';
import { formatCursor, MAX_PAGE_SIZE, MAX_TAG_LENGTH, parseNftQuery } from './nft-query.ts';

export const nftListRoutes = {
  listNfts: {
    method: 'GET',
    path: '/api/indexer/v1/outputs/nft',
    limit: 'scanLimit',
    handle: answerNftList,
  },
} satisfies RouteTable;

async function answerNftList({ request, node, notes }: RouteContext): Promise<Answer> {
  const query = parseNftQuery(new URL(request.url).search);
  const minLedgerIndex = readMinLedgerIndex(request);
  const list = await node.listNfts(query, minLedgerIndex);
  if (list === undefined) throw noLedger();
  const { ledgerIndex } = list;
  notes.ledgerIndex = ledgerIndex;
  requireLedgerIndex(ledgerIndex, minLedgerIndex);
  if (!list.ok) throw refusalOf(list);
  const { pageSize } = query;
  const body = {
    ledgerIndex,
    pageSize,
    ...(list.next && { cursor: formatCursor(list.next, pageSize) }),
    items: list.items.map(({ outputId }) => `0x${outputId}`),
  };
  return ledgerAnswer(request, body, await hashTag(ledgerIndex, body));
}

/** @param prefix of the network's addresses */
export function foreignAddress(prefix: string): HttpError {
  return new HttpError(400, `an address of another network: this one's begin with ${prefix}1`);
}

function refusalOf(list: NftList & { ok: false }): HttpError {
  switch (list.why) {
    case 'foreign':
      return foreignAddress(list.prefix);
    case 'too many':
      return new HttpError(
        500,
        'too many NFTs would have to be looked at: ask by address, issuer, sender or time of creation',
      );
  }
}

export function describeNftList(): Operations<typeof nftListRoutes> {
  const pageSize = { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE };
  const tokens = { type: 'integer', minimum: 0, maximum: MAX_NATIVE_TOKENS };
  const tag = { type: 'string', pattern: `^0[xX]([0-9a-fA-F]{2}){0,${MAX_TAG_LENGTH}}$` };
  // nft-query.ts is more tolerant than this, as the reference is
  const parameters: Record<
    keyof NftFilters | 'pageSize' | 'cursor',
    [schema: JsonSchema, description: string]
  > = {
    address: [textSchema, 'The bech32 address of the address unlock condition.'],
    unlockableByAddress: [
      textSchema,
      'That address, or a return address of the expiration or storage deposit.',
    ],
    issuer: [textSchema, 'The bech32 address of the issuer, an immutable feature.'],
    sender: [textSchema, 'The bech32 address of the sender feature.'],
    tag: [tag, 'The tag feature.'],
    hasStorageDepositReturn: [flagSchema, 'Whether a storage deposit is to be returned.'],
    storageDepositReturnAddress: [textSchema, 'The bech32 address that it is to be returned to.'],
    hasTimelock: [flagSchema, 'Whether there is a timelock, over or not.'],
    timelockedBefore: [unixTimeSchema, 'The timelock ends before this time.'],
    timelockedAfter: [unixTimeSchema, 'The timelock ends after this time.'],
    hasExpiration: [flagSchema, 'Whether there is an expiration, passed or not.'],
    expiresBefore: [unixTimeSchema, 'The output expires before this time.'],
    expiresAfter: [unixTimeSchema, 'The output expires after this time.'],
    expirationReturnAddress: [textSchema, 'The bech32 address that it goes to then.'],
    hasNativeTokens: [flagSchema, 'Whether the output holds native tokens.'],
    minNativeTokenCount: [tokens, 'The fewest kinds of native tokens.'],
    maxNativeTokenCount: [tokens, 'The most kinds of native tokens.'],
    createdBefore: [unixTimeSchema, 'The milestone that created the output is before this time.'],
    createdAfter: [unixTimeSchema, 'The milestone that created the output is after this time.'],
    pageSize: [{ ...pageSize, default: MAX_PAGE_SIZE }, 'The most items of the answer.'],
    cursor: [listCursorSchema, "Another answer's cursor. Its page size counts, not `pageSize`."],
  };
  return {
    listNfts: {
      tag: 'indexer',
      summary: 'The unspent NFT outputs with given properties, page by page (TIP-26)',
      parameters: Object.entries(parameters).map(([name, [schema, description]]) => {
        return { in: 'query', name, description, schema };
      }),
      answer: {
        description: 'A page of the list.',
        schema: named(
          'NFTList',
          objectOf(
            {
              ledgerIndex: milestoneIndexSchema,
              pageSize: { ...pageSize, minimum: 0 },
              items: described('By time of creation, then by ID.', arrayOf(outputIdSchema)),
            },
            { cursor: described('For the next page; absent on the last one.', listCursorSchema) },
          ),
        ),
        ledgerIndex: 'tagged',
      },
      errors: [400, 404],
      example: { path: '/api/indexer/v1/outputs/nft?pageSize=2' },
    },
  };
}
