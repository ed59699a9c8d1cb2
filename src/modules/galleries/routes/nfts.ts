/**
 * GET /api/edge/v1/nfts/:nftId, and GET /api/edge/v1/nfts by IDs, by address or by issuer: NFTs with
 * their outputs, metadata, owners and issuers at one ledger index (docs/contract.md#nfts).
 */
import * as v from 'valibot';
import type { Answer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import { atLedger, hashedAnswer, hashedObjectAnswer } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPages, inPath, inQuery, type Operations } from '../../../http/openapi/operation.ts';
import { Id, OutputId, parseId, parseQueryString } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { noSuchNft } from '../../../http/routes/indexer/nft-lookup.ts';
import { type NftOutputs, readNftOutputs } from '../../../ledger/read/nft-outputs.ts';
import { mapInTurns } from '../../../platform/clock.ts';
import { toBech32 } from '../../../stardust/bech32.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import { outputToJson } from '../../../stardust/json/rest-json.ts';
import { ownerAt } from '../../../stardust/output.ts';
import { FeatureType } from '../../../stardust/wire/feature.ts';
import { decodeOutput, nftIdOf } from '../../../stardust/wire/ids.ts';
import { OutputType } from '../../../stardust/wire/output.ts';
import type { OutputQuery } from '../../lists/output-query.ts';
import { formatCursor, parseGalleryQuery, requirePrefix } from '../../lists/routes/parse-query.ts';
import { nftOutputSchema } from '../../objects/output-schemas.ts';
import {
  describeIds,
  MAX_IDS,
  metadataToJson,
  outputMetadataSchema,
  parseIds,
} from '../../objects/routes/outputs.ts';
import { type NftStatus, readNftGallery } from '../nft-gallery.ts';
import { describeClaims, readClaims } from './nft-claims.ts';

export const nftRoutes = {
  readNfts: {
    method: 'GET',
    path: '/api/edge/v1/nfts',
    query: ['ids', 'address', 'issuer', 'pageSize', 'cursor'],
    keep: 'ledger',
    work: 'gallery',
    handle: answerNfts,
  },
  readNft: {
    method: 'GET',
    path: '/api/edge/v1/nfts/:nftId',
    keep: 'ledger',
    handle: answerNftOutput,
  },
} satisfies RouteTable;

const NftOrOutputId = v.union([Id, OutputId]);

async function answerNftOutput(context: RouteContext): Promise<Answer> {
  const nftId = parseId(Id, context.params.nftId, 'the NFT ID');
  return answerByIds(context, [nftId], ({ ledgerIndex, nfts: [nft] }) => {
    if (!nft) throw noSuchNft(ledgerIndex);
    return hashedObjectAnswer(context.request, ledgerIndex, { ledgerIndex, ...nft });
  });
}

async function answerNfts(context: RouteContext): Promise<Answer> {
  const { request } = context;
  const values = parseQueryString(new URL(request.url).search);
  const [name, ...others] = ['ids', 'address', 'issuer'].filter((each) => values.has(each));
  if (!(name && values.get(name)) || others.length > 0)
    throw new HttpError(400, 'one of ids, address and issuer must be given');
  const paging = ['pageSize', 'cursor'].find((each) => values.has(each));
  if (name === 'ids' && paging !== undefined)
    throw new HttpError(400, `${paging} is of lists by address or issuer, not of ids`);
  return name === 'ids'
    ? answerByIds(context, parseIds(values.get(name)!, NftOrOutputId), (body) =>
        hashedAnswer(request, body),
      )
    : answerGallery(context, parseGalleryQuery(values, MAX_IDS));
}

/** NFTs as JSON, in the order of their IDs; null where there is none. */
interface NftsById {
  ledgerIndex: number;
  nfts: (ReturnType<typeof nftToJson> | null)[];
}

function answerByIds(
  context: RouteContext,
  ids: readonly string[],
  answer: (body: NftsById) => Answer | Promise<Answer>,
): Promise<Answer> {
  return atLedger(
    context,
    (db) => readNftOutputs(db, ids),
    async (found) => {
      const nfts = await mapInTurns(ids, (id, i) => {
        const status = found.outputs[i];
        const output = status && decodeOutput(status.bytes);
        if (status === undefined || output?.type !== OutputType.Nft) return null;
        const nft = nftToJson({ status, output }, found);
        if (![nft.nftId, nft.outputId].includes(`0x${id}`))
          throw new Error(`the output of NFT 0x${id} holds ${nft.nftId}`);
        return nft;
      });
      return answer({ ledgerIndex: found.ledgerIndex, nfts });
    },
  );
}

function answerGallery(context: RouteContext, query: OutputQuery): Promise<Answer> {
  return atLedger(
    context,
    (db) => readNftGallery(db, query),
    async (gallery) => {
      requirePrefix(gallery.prefix, query.prefixes);
      const { pageSize } = query;
      return hashedAnswer(context.request, {
        ledgerIndex: gallery.ledgerIndex,
        pageSize,
        ...(gallery.next && { cursor: formatCursor(gallery.next, pageSize) }),
        nfts: await mapInTurns(gallery.nfts, (each) => nftToJson(each, gallery)),
      });
    },
  );
}

function nftToJson(
  { status, output }: NftStatus,
  { timestamp, prefix }: Pick<NftOutputs, 'timestamp' | 'prefix'>,
) {
  const issuer = output.immutableFeatures.find((each) => each.type === FeatureType.Issuer);
  const claims = readClaims(output);
  return {
    nftId: toHex(nftIdOf(output, Uint8Array.fromHex(status.outputId))),
    outputId: `0x${status.outputId}`,
    owner: ownerToJson(output, timestamp, prefix),
    ...(issuer && { issuer: toBech32(prefix, issuer.address) }),
    ...(claims && { claims }),
    metadata: metadataToJson(status),
    output: outputToJson(output),
  };
}

export function ownerToJson(
  output: Parameters<typeof ownerAt>[0],
  timestamp: number,
  prefix: string,
) {
  const { address, timelockedUntil, passesTo } = ownerAt(output, timestamp);
  return {
    address: toBech32(prefix, address),
    canUnlock: timelockedUntil === undefined,
    ...(timelockedUntil !== undefined && { timelockedUntil }),
    ...(passesTo && {
      passesTo: { address: toBech32(prefix, passesTo.address), unixTime: passesTo.unixTime },
    }),
  };
}

/** Owner of an NFT at the ledger's time, or at that of a change. */
export const ownerSchema: json.JsonSchema = /* @__PURE__ */ json.named('NFTOwner', () =>
  json.objectOf(
    {
      address: json.described(
        'The one address that can unlock the output at that time.',
        json.bech32Schema,
      ),
      canUnlock: json.described('False while a timelock holds the output.', json.flagSchema),
    },
    {
      timelockedUntil: json.described(
        'Present while a timelock holds the output.',
        json.unixTimeSchema,
      ),
      passesTo: json.described(
        'Present if the output will expire: the owner from that time on.',
        json.namedObject('NextOwner', {
          address: json.bech32Schema,
          unixTime: json.unixTimeSchema,
        }),
      ),
    },
  ),
);

export function describeNfts(): Operations<typeof nftRoutes> {
  const fields: Record<string, json.JsonSchema> = {
    nftId: json.hashSchema,
    outputId: json.outputIdSchema,
    owner: json.described("At the time of the ledger's milestone.", ownerSchema),
    metadata: outputMetadataSchema,
    output: nftOutputSchema,
  };
  const mayBeAbsent: Record<string, json.JsonSchema> = {
    issuer: json.described(
      'Of the immutable issuer feature: the ledger guarantees it.',
      json.bech32Schema,
    ),
    claims: describeClaims(),
  };
  const pageSize: json.JsonSchema = { type: 'integer', minimum: 1, maximum: MAX_IDS };
  const nftId = '0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7';
  return {
    readNfts: {
      tag: 'edge',
      summary: `Up to ${MAX_IDS} NFTs with their outputs, metadata and owners, of one moment`,
      description:
        'By IDs; or, page by page, those whose address unlock condition has an address, or those ' +
        'of an issuer. One of `ids`, `address` and `issuer` must be given.',
      parameters: [
        describeIds(NftOrOutputId, 'NFTs, or of their outputs'),
        inQuery('address', json.textSchema, 'The bech32 address of the address unlock condition.'),
        inQuery(
          'issuer',
          json.textSchema,
          'The bech32 address of the issuer, an immutable feature.',
        ),
        ...inPages('NFTs', MAX_IDS, json.listCursorSchema),
      ],
      answer: {
        description: 'The NFTs.',
        schema: json.namedObject(
          'NFTs',
          {
            ledgerIndex: json.milestoneIndexSchema,
            nfts: json.described(
              'In the order of `ids`, null where no unspent output holds the NFT; or of lists.',
              json.arrayOf(json.orNull(json.namedObject('NFT', fields, mayBeAbsent))),
            ),
          },
          {
            pageSize: json.described('Of a page.', pageSize),
            cursor: json.described(
              'For the next page; absent on the last one.',
              json.listCursorSchema,
            ),
          },
        ),
        ledgerIndex: 'tagged',
      },
      example: `/api/edge/v1/nfts?ids=${nftId}`,
    },
    readNft: {
      tag: 'edge',
      summary: 'An NFT with its output, metadata and owner',
      parameters: [inPath('nftId', Id, 'NFT ID, 32 bytes.')],
      answer: {
        description: 'The NFT.',
        schema: json.namedObject(
          'NFTAtLedgerIndex',
          { ledgerIndex: json.milestoneIndexSchema, ...fields },
          mayBeAbsent,
        ),
        ledgerIndex: 'tagged',
      },
      example: `/api/edge/v1/nfts/${nftId}`,
    },
  };
}
