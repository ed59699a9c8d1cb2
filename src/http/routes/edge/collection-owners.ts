/**
 * GET /api/edge/v1/collections/:issuer/owners: owners of an issuer's NFTs
 * (docs/contract.md#owners-of-a-collection).
 */
import { MAX_COLLECTION, type OwnersQuery } from '../../../node/edge-node.ts';
import { toBech32 } from '../../../stardust/bech32.ts';
import type { Answer } from '../../answer.ts';
import { HttpError } from '../../errors.ts';
import { atLedger, hashedAnswer, readMinLedgerIndex } from '../../ledger-answer.ts';
import {
  arrayOf,
  bech32Schema,
  described,
  type JsonSchema,
  milestoneIndexSchema,
  named,
  objectOf,
  textSchema,
  uint32Schema,
} from '../../openapi/json-schema.ts';
import type { Operations, RouteTable } from '../../openapi/operation.ts';
import { parseQueryString } from '../../query-string.ts';
import type { RouteContext } from '../../route.ts';
import { foreignAddress } from '../indexer/output-lists.ts';
import { MAX_PAGE_SIZE, parseAddress, readPageSize } from '../indexer/output-query.ts';

export const collectionOwnerRoutes = {
  listCollectionOwners: {
    method: 'GET',
    path: '/api/edge/v1/collections/:issuer/owners',
    query: ['pageSize', 'cursor'],
    keep: 'ledger',
    limit: 'scanLimit',
    handle: answerOwners,
  },
} satisfies RouteTable;

async function answerOwners({ request, params, node }: RouteContext): Promise<Answer> {
  const { prefix, key: issuer } = parseAddress(params.issuer!, 'the issuer');
  const query = { issuer, prefix, ...parsePage(new URL(request.url).search) };
  return atLedger(
    readMinLedgerIndex(request),
    (minLedgerIndex) => node.readCollectionOwners(query, minLedgerIndex),
    (found) => {
      if (!found.ok)
        throw found.why === 'foreign'
          ? foreignAddress(found.prefix)
          : new HttpError(500, `a collection of more than ${MAX_COLLECTION} NFTs`);
      const { ledgerIndex, nftCount, ownerCount, owners, next } = found;
      const { pageSize } = query;
      return hashedAnswer(request, {
        ledgerIndex,
        nftCount,
        ownerCount,
        pageSize,
        ...(next && { cursor: `${next}.${pageSize}` }),
        owners: owners.map(({ address, nftCount }) => ({
          address: toBech32(found.prefix, address),
          nftCount,
        })),
      });
    },
  );
}

/** Throws an HttpError 400. */
function parsePage(search: string): Pick<OwnersQuery, 'pageSize' | 'from'> {
  const values = parseQueryString(search);
  const cursor = values.get('cursor');
  if (!cursor) return { pageSize: readPageSize(values), from: '' };
  const [, from, size] = /^([0-9a-fA-F]{66})\.(\d{1,4})$/.exec(cursor) ?? [];
  const pageSize = Number(size);
  if (from === undefined || !(pageSize > 0 && pageSize <= MAX_PAGE_SIZE))
    throw new HttpError(400, 'cursor: no cursor of owners');
  return { pageSize, from: from.toLowerCase() };
}

export function describeCollectionOwners(): Operations<typeof collectionOwnerRoutes> {
  const pageSize: JsonSchema = { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE };
  const cursor: JsonSchema = { type: 'string', pattern: '^[0-9a-f]{66}\\.[0-9]{1,4}$' };
  const owner = objectOf({ address: bech32Schema, nftCount: uint32Schema });
  const issuer = 'smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m';
  return {
    listCollectionOwners: {
      tag: 'edge',
      summary: 'Who owns the NFTs of a collection, and how many, page by page',
      description:
        'A collection is the NFTs with one immutable issuer: the address of the NFT or alias that stands for the collection. ' +
        `500 if it has more than ${MAX_COLLECTION} NFTs.`,
      parameters: [
        {
          in: 'path',
          name: 'issuer',
          description: 'The bech32 address of the issuer.',
          schema: textSchema,
          required: true,
        },
        {
          in: 'query',
          name: 'pageSize',
          description: `The most owners of a page. Default: ${MAX_PAGE_SIZE}.`,
          schema: pageSize,
        },
        {
          in: 'query',
          name: 'cursor',
          description: "Another page's cursor. Its page size counts, not `pageSize`.",
          schema: cursor,
        },
      ],
      answer: {
        description: 'The owners, in the order of the bytes of their addresses.',
        schema: named(
          'CollectionOwners',
          objectOf(
            {
              ledgerIndex: milestoneIndexSchema,
              nftCount: described('Of the whole collection.', uint32Schema),
              ownerCount: described('Of the whole collection.', uint32Schema),
              pageSize,
              owners: arrayOf(named('CollectionOwner', owner)),
            },
            { cursor: described('For the next page; absent on the last one.', cursor) },
          ),
        ),
        ledgerIndex: 'tagged',
      },
      errors: [400, 404],
      example: { path: `/api/edge/v1/collections/${issuer}/owners?pageSize=3` },
    },
  };
}
