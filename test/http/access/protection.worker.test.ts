/** Rate limit, log lines, counters, timings, and what happens when a setting is wrong. */

import { createExecutionContext } from 'cloudflare:test';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { createMisconfiguredApp } from '../../../src/http/app.ts';
import {
  checkAlways,
  errorBody,
  expectError,
  NFT,
  post,
  WHITE_FLAG,
} from '../../support/http/contract.ts';
import { hasRoute } from '../../support/http/has-route.ts';
import { facts, fetchFrom } from '../../support/http/stub-node.ts';

const good = post(JSON.stringify(facts.whiteFlag));

const LEVELS = ['info', 'warn', 'error'] as const;
let spies: MockInstance[];

/** The lines of log since the test began. */
function lines(): Record<string, unknown>[] {
  return spies.flatMap((spy, i) =>
    spy.mock.calls.map(([line]) => ({ level: LEVELS[i], ...JSON.parse(String(line)) })),
  );
}

beforeEach(() => {
  spies = LEVELS.map((level) => vi.spyOn(console, level).mockImplementation(() => {}));
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('the rate limit', () => {
  it('counts white-flag requests by address, and nothing else', async () => {
    const counts = new Map<string, number>();
    const limit = async ({ key }: RateLimitOptions) => {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return { success: counts.get(key)! <= 2 };
    };
    const fetch = fetchFrom({ settings: { whiteFlagLimit: { limit } } });
    const from = (address: string) =>
      fetch(WHITE_FLAG, { ...good, headers: { 'cf-connecting-ip': address } });
    expect((await from('192.0.2.1')).status).toBe(200);
    expect((await from('192.0.2.1')).status).toBe(200);
    const refused = await from('192.0.2.1');
    expect([refused.status, await refused.text()]).toEqual([429, errorBody(refused.status)]);
    expect(refused.headers.get('retry-after')).toBe('60');
    checkAlways(refused);
    expect((await from('192.0.2.2')).status).toBe(200);
    expect((await fetch(NFT + facts.nftId)).status).toBe(200);
    await expectError(fetch, WHITE_FLAG, 405);
    expect([...counts.values()]).toEqual([3, 1]);
  });
});

describe('the rate limits of reads', () => {
  const id = `0x${'ab'.repeat(32)}`;
  const FETCHING = [`/api/core/v2/blocks/${id}`, `/api/core/v2/blocks/${id}/metadata`].filter(
    hasRoute,
  );
  const SCANNING = [
    '/api/indexer/v1/outputs/nft',
    '/api/edge/v1/whiteflag/5',
    `/api/poi/v1/create/${id}`,
    `/api/edge/v1/blocks/${id}/proof`,
    `/api/core/v2/milestones/${id}/utxo-changes`,
    '/api/core/v2/milestones/by-index/5/utxo-changes',
  ].filter(hasRoute);
  const OTHERS = [
    NFT + facts.nftId,
    '/health',
    '/api/core/v2/info',
    '/api/core/v2/tips',
    '/api/core/v2/milestones/by-index/5',
  ];
  const full = { limit: async () => ({ success: false }) };

  it.each([
    ['fetchLimit', FETCHING, SCANNING],
    ['scanLimit', SCANNING, FETCHING],
  ])('%s', async (name, limited, free) => {
    const fetch = fetchFrom({ settings: { [name]: full } });
    for (const path of limited) {
      const refused = await fetch(path);
      expect([path, refused.status, refused.headers.get('retry-after')]).toEqual([path, 429, '60']);
      checkAlways(refused);
      await expectError(fetch, path, 405, { method: 'DELETE' });
    }
    for (const path of [...free, ...OTHERS]) expect((await fetch(path)).status).not.toBe(429);
    expect((await fetch(WHITE_FLAG, good)).status).toBe(200);
  });
});

describe('the log', () => {
  it('has one line for a white flag, with the request, the cone and the stages', async () => {
    await fetchFrom()(WHITE_FLAG, good);
    expect(lines()).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        level: 'info',
        event: 'http.request',
        method: 'POST',
        route: WHITE_FLAG,
        status: 200,
        ms: expect.any(Number),
        proposal: facts.whiteFlag,
        ledgerIndex: facts.ledgerIndex,
        blocks: 43,
        source: 'd1',
        stages: { d1: 5, walk: 1 },
      },
    ]);
  });

  it('has few lines for what a stranger repeats, and says how many were left out', async () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(2_000_000_000_000);
    const fetch = fetchFrom();
    const requests = [
      () => fetch('/hello'),
      () => fetch(`${NFT}0xhello`),
      () => fetch('/health', { method: 'PUT' }),
      () => fetch(WHITE_FLAG, good),
      () => fetch(WHITE_FLAG, { method: 'POST', body: 'x' }),
      () => fetch('/', { method: 'OPTIONS' }),
    ];
    // out of the cache from then on
    await fetch(WHITE_FLAG, good);
    for (const spy of spies) spy.mockClear();
    for (let i = 0; i < 200; i++) for (const ask of requests) await ask();
    expect(lines().length).toBeLessThanOrEqual(10 * requests.length);
    for (const spy of spies) spy.mockClear();
    clock.mockReturnValue(2_000_000_020_000);
    for (const ask of requests) await ask();
    expect(lines()).toEqual(
      requests.map(() => expect.objectContaining({ leftOut: expect.any(Number) })),
    );
    clock.mockRestore();
  });

  it('has a line for a read that was answered with LOG_READS', async () => {
    await fetchFrom()('/api/core/v2/info');
    expect(lines()).toEqual([]);
    await fetchFrom({ settings: { logReads: true } })('/api/core/v2/info');
    expect(lines()).toMatchObject([{ route: '/api/core/v2/info', status: 200 }]);
  });

  it('has no line for an NFT lookup that was answered', async () => {
    const fetch = fetchFrom();
    const { status, headers } = await fetch(NFT + facts.nftId);
    expect(status).toBe(200);
    const etag = { 'if-none-match': headers.get('etag')! };
    expect((await fetch(NFT + facts.nftId, { headers: etag })).status).toBe(304);
    expect((await fetch(`${NFT}0x${'0'.repeat(64)}`)).status).toBe(404);
    expect(lines()).toEqual([]);
  });

  it('names the route, not what the client wrote', async () => {
    await fetchFrom()(`${NFT}0xhello`);
    await fetchFrom()('/hello');
    expect(lines()).toMatchObject([
      { route: `${NFT}:nftId`, status: 400, detail: expect.any(String) },
      { route: 'none', status: 404 },
    ]);
    expect(JSON.stringify(lines())).not.toContain('hello');
  });

  it('tells what went wrong where the answer does not', async () => {
    const fetch = fetchFrom({
      node: { lookUpNft: () => Promise.reject(new Error('D1_ERROR: gone')) },
    });
    await fetch(NFT + facts.nftId);
    expect(lines()).toMatchObject([
      { level: 'error', status: 500, error: expect.stringContaining('D1_ERROR: gone') },
    ]);
  });

  it('tells why the node is not healthy', async () => {
    await fetchFrom()('/health');
    expect(lines()).toMatchObject([
      { route: '/health', status: 503, detail: expect.stringContaining('seconds old') },
    ]);
  });
});

it('counts each request where a dataset is bound, NFT lookups too', async () => {
  const points: AnalyticsEngineDataPoint[] = [];
  const requests = {
    writeDataPoint: (point?: AnalyticsEngineDataPoint) => void points.push(point!),
  };
  const fetch = fetchFrom({ settings: { requests } });
  await fetch(WHITE_FLAG, good);
  await fetch(NFT + facts.nftId);
  const nftRoute = `${NFT}:nftId`;
  expect(points).toEqual([
    {
      indexes: [WHITE_FLAG],
      blobs: [WHITE_FLAG, 'POST', '200', 'd1', ''],
      doubles: [expect.any(Number), 43],
    },
    {
      indexes: [nftRoute],
      blobs: [nftRoute, 'GET', '200', 'kv', 'range'],
      doubles: [expect.any(Number), 0],
    },
  ]);
});

describe('Server-Timing', () => {
  it('is there when the setting asks for it', async () => {
    const response = await fetchFrom({ settings: { serverTiming: true } })(WHITE_FLAG, good);
    expect(response.headers.get('server-timing')).toMatch(
      /^d1;dur=5\.0, walk;dur=1\.0, total;dur=\d+\.\d$/,
    );
  });

  it('is not there otherwise', async () => {
    expect((await fetchFrom()(WHITE_FLAG, good)).headers.get('server-timing')).toBeNull();
  });
});

it('a wrong setting: 500 for everything, and the log says which', async () => {
  const app = createMisconfiguredApp(['MILESTONE_THRESHOLD must be an integer']);
  for (const path of ['/', '/health', NFT]) {
    const response = await app.fetch(
      new Request(`http://edge.example${path}`),
      createExecutionContext(),
    );
    expect([response.status, await response.text()]).toEqual([500, errorBody(response.status)]);
    checkAlways(response);
  }
  expect(lines()[0]).toEqual({
    time: expect.any(String),
    level: 'error',
    event: 'settings.invalid',
    problems: ['MILESTONE_THRESHOLD must be an integer'],
  });
});
