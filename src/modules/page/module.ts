/** The explorer at `/` and at its views' paths, and openapi.json. */
import type { Module } from '../module.ts';
import { assetRoutes, pageStatus } from './static-assets.ts';

export { describeAssets } from './static-assets.ts';

export const page: Module = {
  name: 'page',
  routes: assetRoutes,
  page: { route: assetRoutes.showPage, statusOf: pageStatus },
};
