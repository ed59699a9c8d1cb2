/** Histories of NFTs, certificates of their states, and changes since a milestone. */
import type { Operations } from '../../http/openapi/operation.ts';
import { galleries } from '../galleries/module.ts';
import { lists } from '../lists/module.ts';
import type { Module } from '../module.ts';
import { proofs } from '../proofs/module.ts';
import { carryPast } from './carry-past.ts';
import { pastTable } from './held-outputs.ts';
import { describeNftCertificate, nftCertificateRoutes } from './routes/nft-certificate.ts';
import { describeNftChanges, nftChangeRoutes } from './routes/nft-changes.ts';
import { describeNftHistory, nftHistoryRoutes } from './routes/nft-history.ts';

const routes = { ...nftHistoryRoutes, ...nftCertificateRoutes, ...nftChangeRoutes };

export const histories: Module = {
  name: 'histories',
  needs: [galleries, lists, proofs],
  routes,
  ledger: { carry: carryPast, tables: [pastTable] },
};

export const describeHistories = (): Operations<typeof routes> => ({
  ...describeNftHistory(),
  ...describeNftCertificate(),
  ...describeNftChanges(),
});
