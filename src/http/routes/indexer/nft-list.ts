/**
 * GET /api/indexer/v1/outputs/nft: the unspent NFT outputs with given properties, page by page
 * (TIP-26; docs/contract.md#nft-lists).
 */
import type { NftList } from '../../../node/edge-node.ts';
import type { Answer } from '../../answer.ts';
import { HttpError, noLedger } from '../../errors.ts';
import {
  hashTag,
  ledgerAnswer,
  readMinLedgerIndex,
  requireLedgerIndex,
} from '../../ledger-answer.ts';
import type { RouteContext } from '../../route.ts';
import { formatCursor, parseNftQuery } from './nft-query.ts';

export async function answerNftList({ request, node, notes }: RouteContext): Promise<Answer> {
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

function refusalOf(list: NftList & { ok: false }): HttpError {
  switch (list.why) {
    case 'foreign':
      return new HttpError(
        400,
        `an address of another network: this one's begin with ${list.prefix}1`,
      );
    case 'too many':
      return new HttpError(
        500,
        'too many NFTs would have to be looked at: ask by address, issuer, sender or time of creation',
      );
  }
}
