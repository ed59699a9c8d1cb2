/**
 * The routes of the core, with their descriptions for openapi.json, and those of modules. itty-router
 * tries the routes in this order, lookups by ID before all others (app.ts).
 */
import type { Operations } from './openapi/operation.ts';
import type { HttpPart, RouteTable } from './route.ts';
import { describeInfo, infoRoutes } from './routes/core/info.ts';
import { describeWhiteFlag, whiteFlagRoutes } from './routes/core/white-flag.ts';
import { describeNftLookup, nftLookupRoutes } from './routes/indexer/nft-lookup.ts';
import { describeHealth, healthRoutes } from './routes/node/health.ts';
import { describeMetrics, metricsRoutes } from './routes/node/metrics.ts';

const CORE_ROUTES = {
  ...nftLookupRoutes,
  ...whiteFlagRoutes,
  ...infoRoutes,
  ...healthRoutes,
  ...metricsRoutes,
};

/** The routes of the core and of these modules, by their operation IDs. */
export function listRoutes(modules: readonly HttpPart[]): RouteTable {
  return Object.assign({}, CORE_ROUTES, ...modules.map(({ routes }) => routes));
}

/** Only tools/openapi.ts calls this, so the Worker's bundle leaves the descriptions out. */
export const describeCoreRoutes = (): Operations<typeof CORE_ROUTES> => ({
  ...describeNftLookup(),
  ...describeWhiteFlag(),
  ...describeInfo(),
  ...describeHealth(),
  ...describeMetrics(),
});
