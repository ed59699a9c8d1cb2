/**
 * Every route of the Worker. The route of NFTs is found by its prefix. itty-router tries the
 * patterns of the others in this order.
 */
import { answerApiRoutes } from './api-routes.ts';
import { answerProof } from './block-proof.ts';
import { answerHealth } from './health.ts';
import { answerInfo } from './info.ts';
import { answerExplanation } from './milestone-explanation.ts';
import { answerNftList } from './nft-list.ts';
import { answerNft } from './nft-lookup.ts';
import { answerNftOutput, answerNfts } from './nfts.ts';
import { answerOutput, answerOutputMetadata } from './outputs.ts';
import { answerOpenApi, answerPage } from './pages.ts';
import { checkRate } from './rate-limit.ts';
import type { Route } from './route.ts';
import { answerWhiteFlag } from './white-flag.ts';

/** Whatever follows the prefix is judged as an ID: 400, not 404 (docs/contract.md#nft-lookup). */
export const NFT_PREFIX = '/api/indexer/v1/outputs/nft/';

export const nftRoute: Route = { method: 'GET', path: `${NFT_PREFIX}:nftId`, handle: answerNft };

export function listRoutes(whiteFlagLimit: RateLimit | undefined): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/core/v2/whiteflag',
      precheck: (request) => checkRate(whiteFlagLimit, request),
      handle: answerWhiteFlag,
    },
    { method: 'GET', path: '/health', handle: answerHealth },
    { method: 'GET', path: '/api/routes', handle: answerApiRoutes },
    { method: 'GET', path: '/api/core/v2/info', handle: answerInfo },
    { method: 'GET', path: '/api/indexer/v1/outputs/nft', handle: answerNftList },
    { method: 'GET', path: '/api/edge/v1/nfts', handle: answerNfts },
    { method: 'GET', path: '/api/edge/v1/nfts/:nftId', handle: answerNftOutput },
    { method: 'GET', path: '/api/core/v2/outputs/:outputId', handle: answerOutput },
    {
      method: 'GET',
      path: '/api/core/v2/outputs/:outputId/metadata',
      handle: answerOutputMetadata,
    },
    { method: 'GET', path: '/api/edge/v1/whiteflag/:milestoneIndex', handle: answerExplanation },
    { method: 'GET', path: '/api/edge/v1/blocks/:blockId/proof', handle: answerProof },
    { method: 'GET', path: '/openapi.json', handle: answerOpenApi },
    { method: 'GET', path: '/', handle: answerPage },
  ];
}
