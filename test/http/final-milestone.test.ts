/** A ledger that is over (docs/contract.md#a-ledger-that-is-over), at the border. */

import { describe, expect, it } from 'vitest';
import type { NodeStatus } from '../../src/ledger/read/node-status.ts';
import { NFT, post, WHITE_FLAG } from '../support/http/contract.ts';
import { hasRoute } from '../support/http/has-route.ts';
import { recordedNode } from '../support/http/recorded-node.ts';
import { facts, fetchFrom, status } from '../support/http/stub-node.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const final = facts.ledgerIndex;
const nftPath = NFT + facts.nftId;
const DAY = 'public, max-age=86400, immutable, stale-if-error=0';

function at(finalMilestone: number, change: Partial<NodeStatus> = {}) {
  return fetchFrom({
    settings: { finalMilestone },
    node: { readStatus: async () => ({ ...status, finalMilestone, ...change }) },
  });
}

describe('at the final milestone', () => {
  const fetch = at(final);

  it.each<[string, Partial<NodeStatus>]>([
    ['years later', {}],
    ['whatever the follower last said', { follower: { state: 'diverged', reason: 'old' } }],
  ])('health is 200 and info healthy, %s', async (_, change) => {
    const response = await at(final, change)('/health');
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-final-milestone')).toBe(String(final));
    const info = await (await at(final, change)('/api/core/v2/info')).json();
    expect(info).toMatchObject({ status: { isHealthy: true }, features: ['finalMilestone'] });
  });

  it('answers may be kept for a day, and say so', async () => {
    const etag = (await fetch(nftPath)).headers.get('etag')!;
    for (const [path, init, caching] of [
      [nftPath, {}, DAY],
      [nftPath, { method: 'HEAD' }, DAY],
      [nftPath, { headers: { 'if-none-match': etag } }, DAY],
      ['/api/core/v2/info', {}, DAY],
      [nftPath, { headers: { 'x-min-ledger-index': String(final) } }, 'no-store'],
      ['/api/core/v2/info', { headers: { 'x-min-ledger-index': '0' } }, 'no-store'],
      [`${NFT}0x${'00'.repeat(32)}`, {}, 'no-store'],
      [WHITE_FLAG, post(JSON.stringify(facts.whiteFlag)), 'no-store'],
    ] as const) {
      const { headers } = await fetch(path, init);
      expect([path, headers.get('cache-control')]).toEqual([path, caching]);
      expect([path, headers.get('x-final-milestone')]).toEqual([path, String(final)]);
    }
    expect((await fetch('/api/routes')).headers.get('x-final-milestone')).toBeNull();
  });

  it.runIf(hasRoute('/api/core/v2/outputs/0x'))(
    'outputs may be kept, bytes and JSON apart',
    async () => {
      const network = recordedNetwork('network-a');
      const [id] = network.outputs.keys();
      const node = await recordedNode(network, 106);
      const { headers } = await fetchFrom({ node, settings: { finalMilestone: 106 } })(
        `/api/core/v2/outputs/${id}`,
      );
      expect([headers.get('cache-control'), headers.get('vary')]).toEqual([
        DAY,
        'x-min-ledger-index, accept',
      ]);
    },
  );

  it('what asks for a password is kept nowhere', async () => {
    const closed = fetchFrom({
      settings: { finalMilestone: final, protectedRoutes: ['*'], apiToken: 'x' },
    });
    const { headers } = await closed(nftPath, { headers: { authorization: 'Bearer x' } });
    expect(headers.get('cache-control')).toBe('private, no-store');
  });
});

describe('before it', () => {
  it('everything is as usual', async () => {
    const fetch = at(final + 1);
    expect((await fetch('/health')).status).toBe(503);
    const { headers } = await fetch(nftPath);
    expect(headers.get('cache-control')).toMatch(/max-age=5,/);
    expect(headers.get('x-final-milestone')).toBeNull();
    expect(await (await fetch('/api/core/v2/info')).json()).toMatchObject({ features: [] });
  });
});

describe('beyond it', () => {
  it('the ledger is not healthy, and says why', async () => {
    const now = { ...status.ledger, timestamp: Math.floor(Date.now() / 1000) };
    const fetch = at(final - 1, { ledger: now });
    const response = await fetch('/health');
    expect([response.status, response.headers.get('x-error-detail')]).toEqual([
      503,
      `the ledger is at milestone ${final}, beyond FINAL_MILESTONE, ${final - 1}`,
    ]);
    expect((await fetch(nftPath)).headers.get('x-final-milestone')).toBeNull();
  });
});
