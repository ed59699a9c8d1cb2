/**
 * Every route of the Worker. itty-router tries them in this order.
 */
import { answerNft } from './nft.ts';
import { checkRate } from './rate-limit.ts';
import type { Route } from './route.ts';
import { answerWhiteFlag } from './white-flag.ts';

/** Whatever follows is judged as an ID: 400, not 404 (design §1). */
export const NFT_PREFIX = '/api/indexer/v1/outputs/nft/';

export function listRoutes(whiteFlagLimit: RateLimit | undefined): Route[] {
  return [
    { method: 'GET', path: `${NFT_PREFIX}:nftId+`, handle: answerNft },
    {
      method: 'POST',
      path: '/api/core/v2/whiteflag',
      guard: (request) => checkRate(whiteFlagLimit, request),
      handle: answerWhiteFlag,
    },
  ];
}
