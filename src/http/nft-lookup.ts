/**
 * GET /api/indexer/v1/outputs/nft/:nftId: the unspent output of an NFT (TIP-26;
 * docs/contract.md#nft-lookup).
 */
import { HttpError } from './errors.ts';
import { ledgerAnswer } from './ledger-answer.ts';
import { readMinLedgerIndex, requireLedgerIndex } from './min-ledger-index.ts';
import { noLedger } from './no-ledger.ts';
import type { Answer, RouteContext } from './route.ts';
import { Id, parseId } from './schemas.ts';

export async function answerNft(context: RouteContext): Promise<Answer> {
  const { request, params, node, notes, defer } = context;
  const nftId = parseId(Id, params.nftId, 'the NFT ID');
  const minLedgerIndex = readMinLedgerIndex(request);

  const result = await node.lookUpNft(nftId, minLedgerIndex, { url: request.url, defer });
  if (result === undefined) throw noLedger();
  const { ledgerIndex, outputId, source, why } = result;
  Object.assign(notes, { ledgerIndex, source, why });
  requireLedgerIndex(ledgerIndex, minLedgerIndex);
  if (outputId === undefined) throw noSuchNft(ledgerIndex);
  const tag = `${ledgerIndex}-${outputId.slice(0, 16)}`;
  return ledgerAnswer(request, { ledgerIndex, items: [`0x${outputId}`] }, tag);
}

export function noSuchNft(ledgerIndex: number): HttpError {
  return new HttpError(404, `no unspent output with this NFT ID at ledger index ${ledgerIndex}`);
}
