/**
 * GET /api/indexer/v1/outputs/nft/:nftId: the unspent output of an NFT (TIP-26;
 * docs/contract.md#nft-lookup).
 */

import type { Answer } from '../../answer.ts';
import { HttpError, noLedger } from '../../errors.ts';
import { ledgerAnswer, readMinLedgerIndex, requireLedgerIndex } from '../../ledger-answer.ts';
import type { RouteContext } from '../../route.ts';
import { Id, parseId } from '../../schemas.ts';

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
