/**
 * GET /api/edge/v1/nfts/:nftId and GET /api/edge/v1/nfts?ids=…: NFTs with their outputs, metadata
 * and owners at one ledger index (docs/contract.md#nfts).
 */
import * as v from 'valibot';
import type { NftOutputs, OutputStatus } from '../../../node/edge-node.ts';
import { toBech32 } from '../../../stardust/bech32.ts';
import { outputToJson } from '../../../stardust/json/rest-json.ts';
import { ownerAt } from '../../../stardust/owner.ts';
import { decodeOutput } from '../../../stardust/wire/ids.ts';
import { type NftOutput, OutputType } from '../../../stardust/wire/output.ts';
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
  bech32Schema,
  described,
  flagSchema,
  hashSchema,
  type JsonSchema,
  milestoneIndexSchema,
  named,
  objectOf,
  oneOf,
  outputIdSchema,
  unixTimeSchema,
} from '../../openapi/json-schema.ts';
import { inPath, type Operations, type RouteTable } from '../../openapi/operation.ts';
import { nftOutputSchema } from '../../openapi/output-schemas.ts';
import { parseQueryString } from '../../query-string.ts';
import type { RouteContext } from '../../route.ts';
import { Id, parseId } from '../../schemas.ts';
import { metadataToJson, outputMetadataSchema } from '../core/outputs.ts';
import { noSuchNft } from '../indexer/nft-lookup.ts';

export const nftRoutes = {
  readNfts: { method: 'GET', path: '/api/edge/v1/nfts', handle: answerNfts },
  readNft: { method: 'GET', path: '/api/edge/v1/nfts/:nftId', handle: answerNftOutput },
} satisfies RouteTable;

const MAX_IDS = 100;

async function answerNftOutput(context: RouteContext): Promise<Answer> {
  const nftId = parseId(Id, context.params.nftId, 'the NFT ID');
  const { ledgerIndex, nfts } = await readNfts(context, [nftId]);
  const [nft] = nfts;
  if (!nft) throw noSuchNft(ledgerIndex);
  const body = { ledgerIndex, ...nft };
  // the output and its metadata are fixed by its ID, the owner by the ledger's time
  return ledgerAnswer(context.request, body, `${ledgerIndex}-${nft.outputId.slice(2, 18)}`);
}

async function answerNfts(context: RouteContext): Promise<Answer> {
  const nftIds = parseIds(new URL(context.request.url).search);
  const body = await readNfts(context, nftIds);
  return ledgerAnswer(context.request, body, await hashTag(body.ledgerIndex, body));
}

/** Throws an HttpError 400. */
function parseIds(search: string): string[] {
  const ids = (parseQueryString(search).get('ids') ?? '').split(',');
  if (ids.length > MAX_IDS) throw new HttpError(400, `ids: more than ${MAX_IDS}`);
  return ids.map((id) => parseId(Id, id, 'each of ids'));
}

async function readNfts({ request, node, notes }: RouteContext, nftIds: readonly string[]) {
  const minLedgerIndex = readMinLedgerIndex(request);
  const found = await node.readNfts(nftIds, minLedgerIndex);
  if (found === undefined) throw noLedger();
  const { ledgerIndex, outputs } = found;
  notes.ledgerIndex = ledgerIndex;
  requireLedgerIndex(ledgerIndex, minLedgerIndex);
  const nfts = nftIds.map((nftId, i) => {
    const status = outputs[i];
    return status === undefined ? null : nftToJson(nftId, status, found);
  });
  return { ledgerIndex, nfts };
}

function nftToJson(nftId: string, status: OutputStatus, { timestamp, prefix }: NftOutputs) {
  const output = decodeOutput(status.bytes);
  if (output.type !== OutputType.Nft) throw new Error(`output 0x${status.outputId} holds no NFT`);
  return {
    nftId: `0x${nftId}`,
    outputId: `0x${status.outputId}`,
    owner: ownerToJson(output, timestamp, prefix),
    metadata: metadataToJson(status),
    output: outputToJson(output),
  };
}

function ownerToJson(output: NftOutput, timestamp: number, prefix: string) {
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

export function describeNfts(): Operations<typeof nftRoutes> {
  const owner = named(
    'NFTOwner',
    objectOf(
      {
        address: described(
          "The one address that can unlock the output at the ledger's time.",
          bech32Schema,
        ),
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
  const fields: Record<string, JsonSchema> = {
    nftId: hashSchema,
    outputId: outputIdSchema,
    owner,
    metadata: outputMetadataSchema,
    output: nftOutputSchema,
  };
  const nftId = '0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7';
  return {
    readNfts: {
      tag: 'edge',
      summary: `Up to ${MAX_IDS} NFTs with their outputs, metadata and owners, of one moment`,
      parameters: [
        {
          in: 'query',
          name: 'ids',
          required: true,
          description: 'NFT IDs, separated by commas.',
          schema: v.pipe(v.array(Id), v.minLength(1), v.maxLength(MAX_IDS)),
          explode: false,
        },
      ],
      answer: {
        description: 'The NFTs.',
        schema: named(
          'NFTs',
          objectOf({
            ledgerIndex: milestoneIndexSchema,
            nfts: described(
              'In the order of the request; null where no unspent output holds the NFT.',
              arrayOf(oneOf(named('NFT', objectOf(fields)), { type: 'null' })),
            ),
          }),
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
          objectOf({ ledgerIndex: milestoneIndexSchema, ...fields }),
        ),
        ledgerIndex: 'tagged',
      },
      errors: [400, 404],
      example: { path: `/api/edge/v1/nfts/${nftId}` },
    },
  };
}
