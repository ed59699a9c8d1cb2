/**
 * GET /api/edge/v1/nfts/:nftId and GET /api/edge/v1/nfts?ids=…: NFTs with their outputs, metadata
 * and owners at one ledger index (docs/contract.md#nfts).
 */
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
import { parseQueryString } from '../../query-string.ts';
import type { RouteContext } from '../../route.ts';
import { Id, parseId } from '../../schemas.ts';
import { metadataToJson } from '../core/outputs.ts';
import { noSuchNft } from '../indexer/nft-lookup.ts';

export const MAX_IDS = 100;

export async function answerNftOutput(context: RouteContext): Promise<Answer> {
  const nftId = parseId(Id, context.params.nftId, 'the NFT ID');
  const { ledgerIndex, nfts } = await readNfts(context, [nftId]);
  const [nft] = nfts;
  if (!nft) throw noSuchNft(ledgerIndex);
  const body = { ledgerIndex, ...nft };
  // the output and its metadata are fixed by its ID, the owner by the ledger's time
  return ledgerAnswer(context.request, body, `${ledgerIndex}-${nft.outputId.slice(2, 18)}`);
}

export async function answerNfts(context: RouteContext): Promise<Answer> {
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
