/**
 * GET /api/edge/v1/nfts/:nftId, and GET /api/edge/v1/nfts by IDs, by address or by issuer: NFTs with
 * their outputs, metadata, owners and issuers at one ledger index (docs/contract.md#nfts).
 */
import * as v from 'valibot';
import type { NftOutputs, NftStatus, OutputQuery } from '../../../node/edge-node.ts';
import { toBech32 } from '../../../stardust/bech32.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import { outputToJson } from '../../../stardust/json/rest-json.ts';
import { ownerAt } from '../../../stardust/output.ts';
import { FeatureType } from '../../../stardust/wire/feature.ts';
import { decodeOutput, nftIdOf } from '../../../stardust/wire/ids.ts';
import { OutputType } from '../../../stardust/wire/output.ts';
import type { Answer } from '../../answer.ts';
import { HttpError } from '../../errors.ts';
import {
  atLedger,
  hashedAnswer,
  hashedObjectAnswer,
  readMinLedgerIndex,
} from '../../ledger-answer.ts';
import {
  arrayOf,
  bech32Schema,
  described,
  flagSchema,
  hashSchema,
  type JsonSchema,
  listCursorSchema,
  milestoneIndexSchema,
  named,
  objectOf,
  oneOf,
  outputIdSchema,
  textSchema,
  unixTimeSchema,
} from '../../openapi/json-schema.ts';
import { inPath, type Operations, type RouteTable } from '../../openapi/operation.ts';
import { nftOutputSchema } from '../../openapi/output-schemas.ts';
import { parseQueryString } from '../../query-string.ts';
import type { RouteContext } from '../../route.ts';
import { Id, OutputId, parseId } from '../../schemas.ts';
import { MAX_IDS, metadataToJson, outputMetadataSchema, parseIds } from '../core/outputs.ts';
import { noSuchNft } from '../indexer/nft-lookup.ts';
import { foreignAddress } from '../indexer/output-lists.ts';
import { formatCursor, parseGalleryQuery } from '../indexer/output-query.ts';
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
  const [name, ...others] = ['ids', 'address', 'issuer'].filter((each) => values.get(each));
  if (name === undefined || others.length > 0)
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
  { request, node }: RouteContext,
  ids: readonly string[],
  answer: (body: NftsById) => Answer | Promise<Answer>,
): Promise<Answer> {
  return atLedger(
    readMinLedgerIndex(request),
    (minLedgerIndex) => node.readNfts(ids, minLedgerIndex),
    (found) => {
      const nfts = ids.map((id, i) => {
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

function answerGallery({ request, node }: RouteContext, query: OutputQuery): Promise<Answer> {
  return atLedger(
    readMinLedgerIndex(request),
    (minLedgerIndex) => node.listNftOutputs(query, minLedgerIndex),
    (gallery) => {
      if (!gallery.ok) throw foreignAddress(gallery.prefix);
      const { pageSize } = query;
      return hashedAnswer(request, {
        ledgerIndex: gallery.ledgerIndex,
        pageSize,
        ...(gallery.next && { cursor: formatCursor(gallery.next, pageSize) }),
        nfts: gallery.nfts.map((each) => nftToJson(each, gallery)),
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
export const ownerSchema: JsonSchema = /* @__PURE__ */ named('NFTOwner', () =>
  objectOf(
    {
      address: described('The one address that can unlock the output at that time.', bech32Schema),
      canUnlock: described('False while a timelock holds the output.', flagSchema),
    },
    {
      timelockedUntil: described('Present while a timelock holds the output.', unixTimeSchema),
      passesTo: described(
        'Present if the output will expire: the owner from that time on.',
        named('NextOwner', objectOf({ address: bech32Schema, unixTime: unixTimeSchema })),
      ),
    },
  ),
);

export function describeNfts(): Operations<typeof nftRoutes> {
  const fields: Record<string, JsonSchema> = {
    nftId: hashSchema,
    outputId: outputIdSchema,
    owner: described("At the time of the ledger's milestone.", ownerSchema),
    metadata: outputMetadataSchema,
    output: nftOutputSchema,
  };
  const mayBeAbsent: Record<string, JsonSchema> = {
    issuer: described('Of the immutable issuer feature: the ledger guarantees it.', bech32Schema),
    claims: describeClaims(),
  };
  const pageSize: JsonSchema = { type: 'integer', minimum: 1, maximum: MAX_IDS };
  const nftId = '0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7';
  return {
    readNfts: {
      tag: 'edge',
      summary: `Up to ${MAX_IDS} NFTs with their outputs, metadata and owners, of one moment`,
      description:
        'By IDs; or, page by page, those whose address unlock condition has an address, or those ' +
        'of an issuer. One of `ids`, `address` and `issuer` must be given.',
      parameters: [
        {
          in: 'query',
          name: 'ids',
          description: 'IDs of NFTs, or of their outputs, separated by commas.',
          schema: v.pipe(v.array(NftOrOutputId), v.minLength(1), v.maxLength(MAX_IDS)),
          explode: false,
        },
        {
          in: 'query',
          name: 'address',
          description: 'The bech32 address of the address unlock condition.',
          schema: textSchema,
        },
        {
          in: 'query',
          name: 'issuer',
          description: 'The bech32 address of the issuer, an immutable feature.',
          schema: textSchema,
        },
        {
          in: 'query',
          name: 'pageSize',
          description: `The most NFTs of a page. Default: ${MAX_IDS}.`,
          schema: pageSize,
        },
        {
          in: 'query',
          name: 'cursor',
          description: "Another page's cursor. Its page size counts, not `pageSize`.",
          schema: listCursorSchema,
        },
      ],
      answer: {
        description: 'The NFTs.',
        schema: named(
          'NFTs',
          objectOf(
            {
              ledgerIndex: milestoneIndexSchema,
              nfts: described(
                'In the order of `ids`, null where no unspent output holds the NFT; or of lists.',
                arrayOf(oneOf(named('NFT', objectOf(fields, mayBeAbsent)), { type: 'null' })),
              ),
            },
            {
              pageSize: described('Of a page.', pageSize),
              cursor: described('For the next page; absent on the last one.', listCursorSchema),
            },
          ),
        ),
        ledgerIndex: 'tagged',
      },
      errors: [400, 404],
      example: { path: `/api/edge/v1/nfts?ids=${nftId}` },
    },
    readNft: {
      tag: 'edge',
      summary: 'An NFT with its output, metadata and owner',
      parameters: [inPath('nftId', Id, 'NFT ID, 32 bytes.')],
      answer: {
        description: 'The NFT.',
        schema: named(
          'NFTAtLedgerIndex',
          objectOf({ ledgerIndex: milestoneIndexSchema, ...fields }, mayBeAbsent),
        ),
        ledgerIndex: 'tagged',
      },
      errors: [400, 404],
      example: { path: `/api/edge/v1/nfts/${nftId}` },
    },
  };
}
