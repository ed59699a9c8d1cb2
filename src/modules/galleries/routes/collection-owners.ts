/**
 * GET /api/edge/v1/collections/:issuer/owners: owners of an issuer's NFTs
 * (docs/contract.md#owners-of-a-collection).
 */
import type { Answer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import { atLedger, hashedAnswer, readMinLedgerIndex } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPath, inQuery, type Operations } from '../../../http/openapi/operation.ts';
import { parseQueryString } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { toBech32 } from '../../../stardust/bech32.ts';
import { foreignAddress } from '../../lists/routes/output-lists.ts';
import { MAX_PAGE_SIZE, parseAddress, readPageSize } from '../../lists/routes/parse-query.ts';
import { MAX_COLLECTION, type OwnersQuery, readCollectionOwners } from '../collection-owners.ts';

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
    (minLedgerIndex) => readCollectionOwners(node.session(minLedgerIndex), query),
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
  const pageSize: json.JsonSchema = { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE };
  const cursor: json.JsonSchema = { type: 'string', pattern: '^[0-9a-f]{66}\\.[0-9]{1,4}$' };
  const owner = json.objectOf({ address: json.bech32Schema, nftCount: json.uint32Schema });
  const issuer = 'smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m';
  return {
    listCollectionOwners: {
      tag: 'edge',
      summary: 'Who owns the NFTs of a collection, and how many, page by page',
      description:
        'A collection is the NFTs with one immutable issuer: the address of the NFT or alias that stands for the collection. ' +
        `500 if it has more than ${MAX_COLLECTION} NFTs.`,
      parameters: [
        inPath('issuer', json.textSchema, 'The bech32 address of the issuer.'),
        inQuery('pageSize', pageSize, `The most owners of a page. Default: ${MAX_PAGE_SIZE}.`),
        inQuery('cursor', cursor, "Another page's cursor. Its page size counts, not `pageSize`."),
      ],
      answer: {
        description: 'The owners, in the order of the bytes of their addresses.',
        schema: json.named(
          'CollectionOwners',
          json.objectOf(
            {
              ledgerIndex: json.milestoneIndexSchema,
              nftCount: json.described('Of the whole collection.', json.uint32Schema),
              ownerCount: json.described('Of the whole collection.', json.uint32Schema),
              pageSize,
              owners: json.arrayOf(json.named('CollectionOwner', owner)),
            },
            { cursor: json.described('For the next page; absent on the last one.', cursor) },
          ),
        ),
        ledgerIndex: 'tagged',
      },
      errors: [400, 404],
      example: { path: `/api/edge/v1/collections/${issuer}/owners?pageSize=3` },
    },
  };
}
