/**
 * GET /api/edge/v1/collections/:issuer/owners: owners of an issuer's NFTs
 * (docs/contract.md#owners-of-a-collection), with their counts, of one moment: walks along the
 * index of issuers (docs/storage.md#lists).
 */
import type { Answer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import { atLedger, hashedAnswer } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPages, inPath, type Operations } from '../../../http/openapi/operation.ts';
import { parseQueryString } from '../../../http/request.ts';
import { LEDGER_SCAN, type RouteContext, type RouteTable } from '../../../http/route.ts';
import type { Database } from '../../../ledger/core/database.ts';
import { selectLedger } from '../../../ledger/core/head.ts';
import { parametersAt, selectParameters } from '../../../ledger/core/ledger-parameters.ts';
import { many, one, readBatch } from '../../../ledger/core/read-batch.ts';
import { toBech32 } from '../../../stardust/bech32.ts';
import { decode } from '../../../stardust/encoding/codec.ts';
import { type Address, type AddressKey, address } from '../../../stardust/wire/address.ts';
import { OutputType } from '../../../stardust/wire/output.ts';
import {
  MAX_PAGE_SIZE,
  parseAddress,
  readPageSize,
  requirePrefix,
} from '../../lists/routes/parse-query.ts';

export const collectionOwnerRoutes = {
  listCollectionOwners: {
    ...LEDGER_SCAN,
    path: '/api/edge/v1/collections/:issuer/owners',
    query: ['pageSize', 'cursor'],
    handle: answerOwners,
  },
} satisfies RouteTable;

async function answerOwners(context: RouteContext): Promise<Answer> {
  const { request, params } = context;
  const { prefix, key: issuer } = parseAddress(params.issuer!, 'the issuer');
  const query = { issuer, ...parsePage(new URL(request.url).search) };
  return atLedger(
    context,
    (db) => readCollectionOwners(db, query),
    (found) => {
      const { ledgerIndex, nftCount, ownerCount, owners, next } = found;
      requirePrefix(found.prefix, [prefix]);
      if (nftCount > MAX_COLLECTION)
        throw new HttpError(500, `a collection of more than ${MAX_COLLECTION} NFTs`);
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
        ...inPages('owners', MAX_PAGE_SIZE, cursor),
      ],
      answer: {
        description: 'The owners, in the order of the bytes of their addresses.',
        schema: json.namedObject(
          'CollectionOwners',
          {
            ledgerIndex: json.milestoneIndexSchema,
            nftCount: json.described('Of the whole collection.', json.uint32Schema),
            ownerCount: json.described('Of the whole collection.', json.uint32Schema),
            pageSize,
            owners: json.arrayOf(json.named('CollectionOwner', owner)),
          },
          { cursor: json.described('For the next page; absent on the last one.', cursor) },
        ),
        ledgerIndex: 'tagged',
      },
      example: `/api/edge/v1/collections/${issuer}/owners?pageSize=3`,
    },
  };
}

/** The most NFTs of a collection whose owners are counted: 200,000 rows at most. */
export const MAX_COLLECTION = 50_000;

export interface OwnersQuery {
  issuer: AddressKey;
  pageSize: number;
  /** The page begins with the first owner that is not before this one; empty: the first of all. */
  from: AddressKey;
}

export interface CollectionOwners {
  ledgerIndex: number;
  prefix: string;
  /** NFTs of the whole collection; above {@link MAX_COLLECTION}, not all of them were counted. */
  nftCount: number;
  ownerCount: number;
  /** Owners in the order of their addresses' keys. */
  owners: { address: Address; nftCount: number }[];
  /** Beginning of the next page. */
  next: AddressKey | undefined;
}

/** S2.3: from the second of its expiration on an output belongs to the return address. */
const HELD = `
  WITH held AS (
    SELECT CASE
      WHEN expiration <= (SELECT timestamp FROM milestone WHERE idx = (SELECT ledger FROM head))
      THEN expiration_return ELSE address END AS owner
    FROM output_detail INDEXED BY detail_by_issuer
    WHERE issuer = unhex(?1) AND kind = ${OutputType.Nft} LIMIT ${MAX_COLLECTION + 1})`;

const SELECT_COUNTS = `
  ${HELD}
  SELECT count(*) AS owners, coalesce(sum(nfts), 0) AS nfts
  FROM (SELECT count(*) AS nfts FROM held GROUP BY owner)`;

/** A statement of its own: to sort the counted owners again takes more rows. */
const SELECT_OWNERS = `
  ${HELD}
  SELECT lower(hex(owner)) AS owner, count(*) AS nfts FROM held
  WHERE owner >= unhex(?2) GROUP BY owner ORDER BY owner LIMIT ?3`;

/** Undefined where there is no ledger. Throws a LedgerUnreadable where it is another version's. */
export async function readCollectionOwners(
  db: Database,
  { issuer, pageSize, from }: OwnersQuery,
): Promise<CollectionOwners | undefined> {
  const { at, parameters, listed, counts } = await readBatch(db, {
    at: selectLedger(db),
    parameters: selectParameters(db),
    // one more than the page has
    listed: many(db.prepare(SELECT_OWNERS).bind(issuer, from, pageSize + 1), (row) => ({
      key: row.text('owner'),
      held: row.integer('nfts'),
    })),
    counts: one(db.prepare(SELECT_COUNTS).bind(issuer), (row) => ({
      ownerCount: row.integer('owners'),
      nftCount: row.integer('nfts'),
    })),
  });
  if (at === undefined) return undefined;
  const ledgerIndex = at.head.ledger;
  const prefix = parametersAt(parameters, ledgerIndex).bech32Hrp;
  const owners = listed.slice(0, pageSize).map(({ key, held }) => ({
    address: decode(address, Uint8Array.fromHex(key)),
    nftCount: held,
  }));
  const next = listed[pageSize]?.key;
  return { ledgerIndex, prefix, ...counts, owners, next };
}
