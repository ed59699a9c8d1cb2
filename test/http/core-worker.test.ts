/**
 * The Worker of the core alone (`npm run build -- --core`), over HTTP: the two operations of the
 * seed, health and info, and 404 for what modules have.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCore } from '../../cli/lib/wrangler/build-worker.ts';
import { listRoutes } from '../../src/http/routes.ts';
import { MODULES } from '../../src/modules/list.ts';
import {
  checkRow,
  expectError,
  type Facts,
  type Fetch,
  ledgerRows,
  nftRows,
  whiteFlagRows,
} from '../support/http/contract.ts';
import { type RunningWorker, runWorker } from '../support/http/running-worker.ts';
import { facts as madeUp } from '../support/http/stub-node.ts';

const INDEX = 70;
let folder: string;
let worker: RunningWorker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'core-'));
  const build = async () => {
    await buildCore(folder);
    return folder;
  };
  worker = await runWorker('network-a', INDEX, {}, build);
});
afterAll(async () => {
  await worker.stop();
  await rm(folder, { recursive: true });
});

const rowsOf = (facts: Facts) => [...nftRows(facts), ...whiteFlagRows(facts), ...ledgerRows(facts)];
/** Rows have the same places for all facts; the facts are known only once the Worker runs. */
const rows = rowsOf(madeUp).map(({ name }, place) => ({ name, place }));

it.each(rows)('$name', ({ place }) => checkRow(worker.fetch, rowsOf(worker.facts)[place]!));

it('health and info tell of the ledger', async () => {
  // its milestone was recorded long ago
  const health = await worker.fetch('/health');
  expect([health.status, health.headers.get('x-ledger-index')]).toEqual([503, String(INDEX)]);
  expect(await (await worker.fetch('/api/core/v2/info')).json()).toMatchObject({
    status: { confirmedMilestone: { index: INDEX } },
  });
  expect(await (await worker.fetch('/api/routes')).json()).toEqual({
    routes: ['core/v2', 'indexer/v1'],
    indexed: ['nft'],
  });
});

describe('what modules have is not there', () => {
  const core = Object.keys(listRoutes([]));
  const others = Object.entries(listRoutes(MODULES)).filter(([name]) => !core.includes(name));

  // openapi.json describes the core with all modules
  const ask: Fetch = (path, init) => fetch(worker.url + path, init);

  it.each(others)('%s', async (_, { method, path }) => {
    const id = `0x${'ab'.repeat(32)}`;
    const init = method === 'POST' ? { method, body: '{}' } : {};
    await expectError(ask, path.replaceAll(/:\w+\+?/g, id), 404, init);
  });

  it('nor a page at another path', async () => {
    const init = { headers: { accept: 'text/html' } };
    for (const path of ['/nowhere', '/search']) await expectError(ask, path, 404, init);
  });
});
