/**
 * GET /api/indexer/v1/outputs/nft/:nftId: the unspent output of an NFT (TIP-26;
 * docs/contract.md#nft-lookup).
 *
 * The answer is true at the ledger index that it names. So caches may keep it for seconds: it gets
 * older, not wrong. There is no s-maxage, as that would switch stale-while-revalidate off in
 * Cloudflare's cache.
 */
import { HttpError } from './errors.ts';
import { matchesEtag } from './etag.ts';
import { noLedger } from './no-ledger.ts';
import { type Answer, jsonAnswer, type RouteContext } from './route.ts';
import { Id, parseId, parseMilestoneIndex } from './schemas.ts';

const CACHE_CONTROL = 'public, max-age=5, stale-while-revalidate=10, stale-if-error=0';

/** A client that has seen a later ledger asks for that one at least. */
const MIN_LEDGER_INDEX = 'x-min-ledger-index';

export async function answerNft(context: RouteContext): Promise<Answer> {
  const { request, params, node, notes, defer } = context;
  const nftId = parseId(Id, params.nftId, 'the NFT ID');
  const asked = request.headers.get(MIN_LEDGER_INDEX);
  const minLedgerIndex = asked === null ? 0 : parseMilestoneIndex(asked, 'X-Min-Ledger-Index');

  const result = await node.lookUpNft(nftId, minLedgerIndex, { url: request.url, defer });
  if (result === undefined) throw noLedger();
  const { ledgerIndex, outputId, source, why } = result;
  Object.assign(notes, { ledgerIndex, source, why });
  if (ledgerIndex < minLedgerIndex) {
    throw new HttpError(
      404,
      `the ledger is at ${ledgerIndex}, before the milestone that was asked for`,
    );
  }
  if (outputId === undefined) {
    throw new HttpError(404, `no unspent output with this NFT ID at ledger index ${ledgerIndex}`);
  }

  const etag = `W/"${ledgerIndex}-${outputId.slice(0, 16)}"`;
  const headers = {
    etag,
    // no cache may keep what a client got that asked for a minimum
    'cache-control': asked === null ? CACHE_CONTROL : 'no-store',
    vary: MIN_LEDGER_INDEX,
  };
  if (matchesEtag(request.headers.get('if-none-match'), etag))
    return { status: 304, headers, body: null };
  return jsonAnswer({ ledgerIndex, items: [`0x${outputId}`] }, headers);
}
