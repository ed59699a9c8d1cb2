/**
 * NFTs with their outputs, metadata and owners: by ID, of an address, of an issuer; and who owns a
 * collection.
 */
import type { Operations } from '../../http/openapi/operation.ts';
import { lists } from '../lists/module.ts';
import type { Module } from '../module.ts';
import { objects } from '../objects/module.ts';
import { collectionOwnerRoutes, describeCollectionOwners } from './routes/collection-owners.ts';
import { describeNfts, nftRoutes } from './routes/nfts.ts';

const routes = { ...nftRoutes, ...collectionOwnerRoutes };

export const galleries: Module = { name: 'galleries', needs: [lists, objects], routes };

export const describeGalleries = (): Operations<typeof routes> => ({
  ...describeNfts(),
  ...describeCollectionOwners(),
});
