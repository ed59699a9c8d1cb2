/** GET /metrics: who may ask, and what it says. */
import { describe, expect, it } from 'vitest';
import { version } from '../../../package.json';
import { countUpstream, createFollowerCounts } from '../../../src/follower/follower-counts.ts';
import type { NodeStatus } from '../../../src/ledger/read/node-status.ts';
import { checkMetrics } from '../../support/http/check-metrics.ts';
import { checkAlways, errorBody, expectError, NFT } from '../../support/http/contract.ts';
import { facts, fetchFrom, status } from '../../support/http/stub-node.ts';

const PATH = '/metrics';
const publicRoutes = ['*', PATH];

const counts = createFollowerCounts(1_700_000_000_500);
counts.milestones = 12;
counts.rowsWritten = 3456;
countUpstream(counts, 1, 'b.example', 'failed');
countUpstream(counts, 0, 'a.example', {
  confirmed: 17_341,
  latest: { index: 17_342, timestamp: 0, milestoneId: '' },
});
Object.assign(counts, { orphans: 5, evicted: 6 });
countUpstream(counts, 0, 'a.example', 'diverged');
countUpstream(counts, 0, 'a.example', 'failed');
countUpstream(counts, 0, 'a.example', 'failed');

const following: NodeStatus = {
  ...status,
  ledger: { ...status.ledger, timestamp: Math.floor(Date.now() / 1000) - 7 },
  upstream: { index: 17_342, timestamp: 0, milestoneId: '' },
  follower: { state: 'following' },
  blocks: { by: 'feed', newest: Math.floor(Date.now() / 1000) - 3 },
};

async function read(fetch: ReturnType<typeof fetchFrom>): Promise<Record<string, number>> {
  const answer = await fetch(PATH);
  expect(answer.status).toBe(200);
  return Object.fromEntries(checkMetrics(await answer.text()));
}

describe('who may ask', () => {
  it.each([
    [[]],
    [['*']],
    [['/*']],
    [['*/metrics', '/metric*', '/metrics*', '/METRICS', '/api/*']],
  ])('403 by %j', async (publicRoutes) => {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const answer = await fetchFrom({ settings: { publicRoutes } })(PATH, { method });
      expect([answer.status, await answer.text()]).toEqual([
        403,
        method === 'HEAD' ? '' : errorBody(answer.status),
      ]);
      expect(answer.headers.get('x-error-detail')).toBe('PUBLIC_ROUTES must name /metrics itself');
    }
  });

  it('whom PUBLIC_ROUTES names; others as before', async () => {
    const named = fetchFrom({ settings: { publicRoutes: [PATH] } });
    expect((await named(PATH)).status).toBe(200);
    const health = await named('/health');
    expect([health.status, health.headers.get('x-error-detail')]).toEqual([403, null]);
    for (const path of ['/metrics/', '/Metrics', '/metrics/a', '//metrics'])
      await expectError(fetchFrom({ settings: { publicRoutes } }), path, 404);
  });

  it('with a token, where PROTECTED_ROUTES has it', async () => {
    const settings = { publicRoutes, protectedRoutes: [PATH], apiToken: 'abc' };
    const fetch = fetchFrom({ settings });
    expect((await fetch(PATH)).status).toBe(401);
    const answer = await fetch(PATH, { headers: { authorization: 'Bearer abc' } });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([
      200,
      'private, no-store',
    ]);
  });

  it('by GET and HEAD', async () => {
    const fetch = fetchFrom({ settings: { publicRoutes, finalMilestone: facts.ledgerIndex } });
    const answer = await fetch(PATH);
    checkAlways(answer);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      // though the network has ended
      'cache-control': 'no-store',
      'x-ledger-index': String(facts.ledgerIndex),
    });
    const head = await fetch(PATH, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const headers = { allow: 'GET, HEAD, OPTIONS' };
    await expectError(fetch, PATH, 405, { method: 'POST' }, headers);
    expect((await fetch(PATH, { method: 'OPTIONS' })).status).toBe(204);
  });
});

describe('what it says', () => {
  it('of a node that follows', async () => {
    const node = {
      readStatus: async () => following,
      readFollowerCounts: async () => counts,
    };
    const {
      stardust_ledger_age_seconds: age,
      stardust_newest_block_age_seconds: newest,
      ...others
    } = await read(fetchFrom({ node, settings: { publicRoutes } }));
    expect(newest).toBeGreaterThanOrEqual(3);
    expect(newest).toBeLessThan(60);
    expect(age).toBeGreaterThanOrEqual(7);
    expect(age).toBeLessThan(60);
    expect(others).toEqual({
      [`stardust_build_info{version="${version}"}`]: 1,
      stardust_healthy: 1,
      stardust_ledger_index: 17_339,
      'stardust_numbers_left{of="blocks"}': 2 ** 53 - 1 - 5000,
      'stardust_numbers_left{of="outputs"}': 2 ** 53 - 1 - 2 ** 40,
      stardust_pruning_index: 17_000,
      stardust_retention_milestones: 338,
      stardust_database_bytes: 1_400_000_000,
      stardust_database_limit_bytes: 10_000_000_000,
      'stardust_follower_state{state="off"}': 0,
      'stardust_follower_state{state="following"}': 1,
      'stardust_follower_state{state="stopped"}': 0,
      'stardust_follower_state{state="failing"}': 0,
      'stardust_follower_state{state="diverged"}': 0,
      stardust_latest_milestone_index: 17_342,
      stardust_ledger_lag_milestones: 3,
      'stardust_blocks_by{state="feed"}': 1,
      'stardust_blocks_by{state="polling"}': 0,
      stardust_follower_start_time_seconds: 1_700_000_000.5,
      stardust_milestones_applied_total: 12,
      'stardust_blocks_dropped_total{why="orphan"}': 5,
      'stardust_blocks_dropped_total{why="evicted"}': 6,
      stardust_rows_written_total: 3456,
      'stardust_upstream_confirmed_index{upstream="a.example",place="0"}': 17_341,
      'stardust_upstream_latest_index{upstream="a.example",place="0"}': 17_342,
      'stardust_upstream_failures_total{upstream="a.example",place="0"}': 2,
      'stardust_upstream_failures_total{upstream="b.example",place="1"}': 1,
      'stardust_upstream_divergences_total{upstream="a.example",place="0"}': 1,
      'stardust_upstream_divergences_total{upstream="b.example",place="1"}': 0,
    });
  });

  it('of one that has no ledger', async () => {
    const fetch = fetchFrom({
      node: { readStatus: async () => undefined },
      settings: { publicRoutes },
    });
    expect(await read(fetch)).toEqual({
      [`stardust_build_info{version="${version}"}`]: 1,
      stardust_healthy: 0,
    });
  });

  it('nothing, where D1 or the object does not answer', async () => {
    const fail = () => Promise.reject(new Error('gone'));
    for (const node of [{ readStatus: fail }, { readFollowerCounts: fail }]) {
      const answer = await fetchFrom({ node, settings: { publicRoutes } })(PATH);
      expect([answer.status, await answer.text()]).toEqual([500, errorBody(answer.status)]);
    }
  });

  it('of requests, where one isolate answers them all', async () => {
    const fetch = fetchFrom({ settings: { publicRoutes, oneIsolate: true } });
    for (let i = 0; i < 3; i++) await fetch(NFT + facts.nftId);
    for (const path of ['/a', '/b', `${NFT}x`, '/health?a=1']) await fetch(path);
    await fetch('/c', { method: 'OPTIONS' });
    const samples = await read(fetch);
    const requests = Object.entries(samples).filter(([name]) => /^stardust_requests/.test(name));
    expect(Object.fromEntries(requests)).toEqual({
      [`stardust_requests_total{route="${NFT}:nftId",status="200"}`]: 3,
      [`stardust_requests_total{route="${NFT}:nftId",status="400"}`]: 1,
      'stardust_requests_total{route="none",status="404"}': 2,
      'stardust_requests_total{route="none",status="204"}': 1,
      'stardust_requests_total{route="/health",status="503"}': 1,
    });
    expect(samples[`stardust_request_seconds_count{route="${NFT}:nftId"}`]).toBe(4);
    const again = await read(fetch);
    expect(again[`stardust_requests_total{route="${PATH}",status="200"}`]).toBe(1);
  });
});
