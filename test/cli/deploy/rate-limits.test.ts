/** The rate limits of a deployment: bound without being asked for, and what they leave to pay. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { refusedDollars, strangerDollars } from '../../../bench/tools/stranger.ts';
import { completeLimits, REQUESTS_A_MINUTE } from '../../../cli/deploy/rate-limits.ts';
import { writeConfig } from '../../../cli/deploy/wrangler-deploy.ts';
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

it('one address costs less than a dollar an hour, whatever it asks for', () => {
  for (const dollars of Object.values(strangerDollars(1))) expect(dollars).toBeLessThan(1);
  expect(strangerDollars(1).SCAN_LIMIT).toBeGreaterThan(0.5);
  expect(strangerDollars(1000).READ_LIMIT).toBeCloseTo(1000 * strangerDollars(1).READ_LIMIT);
  expect(refusedDollars()).toBeLessThan(1);
});
