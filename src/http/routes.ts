/**
 * Every route of the Worker. The route of NFTs is found by its prefix. itty-router tries the
 * patterns of the others in this order.
 */

import { answerOpenApi, answerPage, answerVerifier } from './assets/static-assets.ts';
import type { Route } from './route.ts';
import {
  answerBlock,
  answerBlockMetadata,
  answerIncludedBlock,
  answerIncludedBlockMetadata,
} from './routes/core/blocks.ts';
import { answerApiRoutes, answerInfo } from './routes/core/info.ts';
import { answerLedgerChanges, answerMilestone } from './routes/core/milestones.ts';
import { answerOutput, answerOutputMetadata } from './routes/core/outputs.ts';
import { answerReceipts, answerTreasury } from './routes/core/receipts.ts';
import { answerTips } from './routes/core/tips.ts';
import { answerWhiteFlag } from './routes/core/white-flag.ts';
import { answerExplanation } from './routes/edge/milestone-explanation.ts';
import { answerNftOutput, answerNfts } from './routes/edge/nfts.ts';
import { answerWhiteFlagExplanation } from './routes/edge/white-flag-explanation.ts';
import { answerNftList } from './routes/indexer/nft-list.ts';
import { answerNft } from './routes/indexer/nft-lookup.ts';
import { answerHealth } from './routes/node/health.ts';
import { answerMetrics } from './routes/node/metrics.ts';
import { answerProof } from './routes/proof/block-proof.ts';
import { answerCreateProof, answerValidateProof } from './routes/proof/poi.ts';

/** Whatever follows the prefix is judged as an ID: 400, not 404 (docs/contract.md#nft-lookup). */
export const NFT_PREFIX = '/api/indexer/v1/outputs/nft/';

export const HEALTH_PATH = '/health';

const METRICS_PATH = '/metrics';

export const nftRoute: Route = { method: 'GET', path: `${NFT_PREFIX}:nftId`, handle: answerNft };

export function listRoutes(): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/core/v2/whiteflag',
      limit: 'whiteFlagLimit',
      handle: answerWhiteFlag,
    },
    { method: 'GET', path: HEALTH_PATH, handle: answerHealth },
    { method: 'GET', path: METRICS_PATH, mustBeNamed: true, handle: answerMetrics },
    { method: 'GET', path: '/api/routes', handle: answerApiRoutes },
    { method: 'GET', path: '/api/core/v2/info', mayBeSecondOld: true, handle: answerInfo },
    {
      method: 'GET',
      path: '/api/indexer/v1/outputs/nft',
      limit: 'scanLimit',
      handle: answerNftList,
    },
    { method: 'GET', path: '/api/edge/v1/nfts', handle: answerNfts },
    { method: 'GET', path: '/api/edge/v1/nfts/:nftId', handle: answerNftOutput },
    { method: 'GET', path: '/api/core/v2/outputs/:outputId', handle: answerOutput },
    {
      method: 'GET',
      path: '/api/core/v2/outputs/:outputId/metadata',
      handle: answerOutputMetadata,
    },
    {
      method: 'GET',
      path: '/api/core/v2/blocks/:blockId',
      limit: 'fetchLimit',
      handle: answerBlock,
    },
    {
      method: 'GET',
      path: '/api/core/v2/blocks/:blockId/metadata',
      limit: 'fetchLimit',
      handle: answerBlockMetadata,
    },
    {
      method: 'GET',
      path: '/api/core/v2/transactions/:transactionId/included-block',
      handle: answerIncludedBlock,
    },
    {
      method: 'GET',
      path: '/api/core/v2/transactions/:transactionId/included-block/metadata',
      handle: answerIncludedBlockMetadata,
    },
    // before those by ID, which "by-index" would be taken for
    {
      method: 'GET',
      path: '/api/core/v2/milestones/by-index/:milestoneIndex',
      handle: answerMilestone,
    },
    {
      method: 'GET',
      path: '/api/core/v2/milestones/by-index/:milestoneIndex/utxo-changes',
      limit: 'scanLimit',
      handle: answerLedgerChanges,
    },
    { method: 'GET', path: '/api/core/v2/milestones/:milestoneId', handle: answerMilestone },
    {
      method: 'GET',
      path: '/api/core/v2/milestones/:milestoneId/utxo-changes',
      limit: 'scanLimit',
      handle: answerLedgerChanges,
    },
    { method: 'GET', path: '/api/core/v2/receipts', handle: answerReceipts },
    { method: 'GET', path: '/api/core/v2/receipts/:migratedAt', handle: answerReceipts },
    { method: 'GET', path: '/api/core/v2/treasury', handle: answerTreasury },
    { method: 'GET', path: '/api/core/v2/tips', handle: answerTips },
    {
      method: 'POST',
      path: '/api/edge/v1/whiteflag',
      limit: 'whiteFlagLimit',
      handle: answerWhiteFlagExplanation,
    },
    {
      method: 'GET',
      path: '/api/edge/v1/whiteflag/:milestoneIndex',
      limit: 'scanLimit',
      handle: answerExplanation,
    },
    {
      method: 'GET',
      path: '/api/poi/v1/create/:blockId',
      limit: 'scanLimit',
      handle: answerCreateProof,
    },
    { method: 'POST', path: '/api/poi/v1/validate', handle: answerValidateProof },
    {
      method: 'GET',
      path: '/api/edge/v1/blocks/:blockId/proof',
      limit: 'scanLimit',
      handle: answerProof,
    },
    { method: 'GET', path: '/openapi.json', handle: answerOpenApi },
    { method: 'GET', path: '/', handle: answerPage },
    { method: 'GET', path: '/verifier.js', handle: answerVerifier },
  ];
}
