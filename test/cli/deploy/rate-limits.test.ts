/** The rate limits of a deployment: bound without being asked for, and what they leave to pay. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { refusedDollars, strangerCosts, strangerTotal } from '../../../bench/tools/stranger.ts';
import { completeLimits, REQUESTS_A_MINUTE } from '../../../cli/deploy/rate-limits.ts';
import { writeConfig } from '../../../cli/deploy/wrangler-deploy.ts';
import { listRoutes } from '../../../src/http/routes.ts';
import { MODULES } from '../../../src/modules/list.ts';
import { temporaryFolder } from '../../support/cli/script-process.ts';

const folder = temporaryFolder();

it.each(['', 'staging'])('environment "%s" has every limit', (environment) => {
  const path = writeConfig(mkdtempSync(join(folder, 'deploy-')), environment, 'id');
  const config = JSON.parse(readFileSync(path, 'utf8'));
  const table = environment === '' ? config : config.env[environment];
  const found = table.ratelimits.map(({ name, simple }: { name: string; simple: object }) => [
    name,
    simple,
  ]);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(
      Object.entries(REQUESTS_A_MINUTE).map(([name, limit]) => [name, { limit, period: 60 }]),
    ),
  );
  const namespaces = table.ratelimits.map((each: { namespace_id: string }) => each.namespace_id);
  expect(new Set(namespaces).size).toBe(namespaces.length);
});

it('keeps those of wrangler.toml', () => {
  const own = { name: 'SCAN_LIMIT', namespace_id: '7', simple: { limit: 5, period: 10 } };
  const limits = completeLimits([own]);
  expect(limits).toHaveLength(Object.keys(REQUESTS_A_MINUTE).length);
  expect(limits.filter(({ name }) => name === 'SCAN_LIMIT')).toEqual([own]);
});

it('are counted for each environment by itself', () => {
  const ids = ['', 'staging'].flatMap((environment) =>
    completeLimits([], environment).map(({ namespace_id }) => namespace_id),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

it('one address costs less than a dollar an hour by what its limits admit, by all routes together', () => {
  expect(strangerTotal(1)).toBeLessThan(1);
  const costs = strangerCosts(1);
  // as long as it takes by src/modules/proofs/explain-white-flag.ts
  const explained = costs.find(({ route }) => route === 'explainWhiteFlag')!.usage;
  expect(explained.cpuMs! / explained.requests!).toBeGreaterThanOrEqual(4000);
  expect(Math.max(...costs.map(({ dollars }) => dollars))).toBeGreaterThan(0.2);
  const [first] = strangerCosts(1000);
  expect(first!.dollars).toBeCloseTo(1000 * costs[0]!.dollars);
  expect(refusedDollars()).toBeLessThan(1);
  // what is refused has no limit, and docs/cloudflare.md says so
  expect(strangerTotal(1) + 3.6 * refusedDollars()).toBeGreaterThan(1);
});

it('each route is reckoned under the limit that it has', () => {
  const limits = Object.entries(listRoutes(MODULES)).map(([route, { limit = 'readLimit' }]) => {
    const binding = limit.replace(/[A-Z]/g, '_$&').toUpperCase();
    return [route, binding];
  });
  const reckoned = strangerCosts(1).map(({ route, limit }) => [route, limit]);
  expect(reckoned.sort(), 'DEAREST of bench/tools/stranger.ts').toEqual(limits.sort());
});
