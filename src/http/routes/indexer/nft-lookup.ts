/**
 * GET /api/indexer/v1/outputs/nft/:nftId: the unspent output of an NFT (TIP-26;
 * docs/contract.md#nft-lookup).
 */
import type { Answer } from '../../answer.ts';
import { HttpError } from '../../errors.ts';
import { atLedgerIndex, objectAnswer, readMinLedgerIndex } from '../../ledger-answer.ts';
import * as json from '../../openapi/json-schema.ts';
import { inPath, type Operations } from '../../openapi/operation.ts';
import { Id, parseId } from '../../request.ts';
import type { RouteContext, RouteTable } from '../../route.ts';

const NFT_PREFIX = '/api/indexer/v1/outputs/nft/';

export const nftLookupRoutes = {
  lookUpNft: { method: 'GET', path: `${NFT_PREFIX}:nftId+`, keep: 'ledger', handle: answerNft },
} satisfies RouteTable;

async function answerNft(context: RouteContext): Promise<Answer> {
  const { request, params, node, notes, defer } = context;
  const nftId = parseId(Id, params.nftId, 'the NFT ID');
  return atLedgerIndex(
    readMinLedgerIndex(request),
    async (minLedgerIndex) => {
      const found = await node.lookUpNft(nftId, minLedgerIndex, { url: request.url, defer });
      if (found !== undefined) Object.assign(notes, { source: found.source, why: found.why });
      return found;
    },
    ({ ledgerIndex, outputId }) => {
      if (outputId === undefined) throw noSuchNft(ledgerIndex);
      const body = { ledgerIndex, items: [`0x${outputId}`] };
      return objectAnswer(request, ledgerIndex, body, outputId);
    },
  );
}

export function noSuchNft(ledgerIndex: number): HttpError {
  return new HttpError(404, `no unspent output with this NFT ID at ledger index ${ledgerIndex}`);
}

export const describeNftLookup = (): Operations<typeof nftLookupRoutes> => ({
  lookUpNft: {
    tag: 'indexer',
    summary: 'The unspent output of an NFT (TIP-26)',
    parameters: [inPath('nftId', Id, 'NFT ID, 32 bytes.')],
    answer: {
      description: 'The output that holds the NFT.',
      schema: json.namedObject('NFTLookup', {
        ledgerIndex: json.milestoneIndexSchema,
        items: json.arrayOf(json.outputIdSchema, { minItems: 1, maxItems: 1 }),
      }),
      ledgerIndex: 'tagged',
    },
    example: `${NFT_PREFIX}0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7`,
  },
});
