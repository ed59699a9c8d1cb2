/**
 * Every route of the Worker, with its description for openapi.json. itty-router tries the routes in
 * this order, lookups by ID before all others (app.ts).
 */
import { assetRoutes, describeAssets } from './assets/static-assets.ts';
import type { Operations } from './openapi/operation.ts';
import type { Route } from './route.ts';
import { blockRoutes, describeBlocks } from './routes/core/blocks.ts';
import { describeInfo, infoRoutes } from './routes/core/info.ts';
import { describeMilestones, milestoneRoutes } from './routes/core/milestones.ts';
import { describeOutputs, outputRoutes } from './routes/core/outputs.ts';
import { describeReceipts, receiptRoutes } from './routes/core/receipts.ts';
import { describeTips, tipsRoutes } from './routes/core/tips.ts';
import { describeWhiteFlag, whiteFlagRoutes } from './routes/core/white-flag.ts';
import {
  collectionOwnerRoutes,
  describeCollectionOwners,
} from './routes/edge/collection-owners.ts';
import {
  describeMilestoneExplanation,
  milestoneExplanationRoutes,
} from './routes/edge/milestone-explanation.ts';
import { describeNftCertificate, nftCertificateRoutes } from './routes/edge/nft-certificate.ts';
import { describeNftChanges, nftChangeRoutes } from './routes/edge/nft-changes.ts';
import { describeNftHistory, nftHistoryRoutes } from './routes/edge/nft-history.ts';
import { describeNfts, nftRoutes } from './routes/edge/nfts.ts';
import {
  describeWhiteFlagExplanation,
  whiteFlagExplanationRoutes,
} from './routes/edge/white-flag-explanation.ts';
import { chainLookupRoutes, describeChainLookup } from './routes/indexer/chain-lookup.ts';
import { describeNftLookup, nftLookupRoutes } from './routes/indexer/nft-lookup.ts';
import { describeOutputLists, outputListRoutes } from './routes/indexer/output-lists.ts';
import { describeEvents, eventRoutes } from './routes/node/events.ts';
import { describeHealth, healthRoutes } from './routes/node/health.ts';
import { describeMetrics, metricsRoutes } from './routes/node/metrics.ts';
import { blockProofRoutes, describeBlockProof } from './routes/proof/block-proof.ts';
import { describeFinalLedger, finalLedgerRoutes } from './routes/proof/final-ledger.ts';
import { describePoi, poiRoutes } from './routes/proof/poi.ts';
import { describeStatement, statementRoutes } from './routes/proof/statement.ts';

const ROUTES = {
  ...nftLookupRoutes,
  ...whiteFlagRoutes,
  ...outputListRoutes,
  ...chainLookupRoutes,
  ...nftRoutes,
  ...nftHistoryRoutes,
  ...nftCertificateRoutes,
  ...nftChangeRoutes,
  ...collectionOwnerRoutes,
  ...outputRoutes,
  ...blockRoutes,
  ...milestoneRoutes,
  ...receiptRoutes,
  ...tipsRoutes,
  ...infoRoutes,
  ...whiteFlagExplanationRoutes,
  ...milestoneExplanationRoutes,
  ...poiRoutes,
  ...blockProofRoutes,
  ...finalLedgerRoutes,
  ...statementRoutes,
  ...eventRoutes,
  ...healthRoutes,
  ...metricsRoutes,
  ...assetRoutes,
};

export function listRoutes(): Readonly<Record<string, Route>> {
  return ROUTES;
}

/** Only tools/openapi.ts calls this, so the Worker's bundle leaves the descriptions out. */
export function describeRoutes(): Operations<typeof ROUTES> {
  return {
    ...describeNftLookup(),
    ...describeWhiteFlag(),
    ...describeOutputLists(),
    ...describeChainLookup(),
    ...describeNfts(),
    ...describeNftHistory(),
    ...describeNftCertificate(),
    ...describeNftChanges(),
    ...describeCollectionOwners(),
    ...describeOutputs(),
    ...describeBlocks(),
    ...describeMilestones(),
    ...describeReceipts(),
    ...describeTips(),
    ...describeInfo(),
    ...describeWhiteFlagExplanation(),
    ...describeMilestoneExplanation(),
    ...describePoi(),
    ...describeBlockProof(),
    ...describeFinalLedger(),
    ...describeStatement(),
    ...describeEvents(),
    ...describeHealth(),
    ...describeMetrics(),
    ...describeAssets(),
  };
}
