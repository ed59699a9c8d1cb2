/** What may be kept, where and for how long (docs/contract.md#caching). */
import { describe, expect, it, vi } from 'vitest';
import { CacheApi, openResponseCache } from '../../src/http/response-cache.ts';
import type { WhiteFlagResult } from '../../src/node/edge-node.ts';
import { checkLedgerRead, expectError, NFT, post, WHITE_FLAG } from '../support/http/contract.ts';
import { facts, fetchFrom, OpenCache, stubNode } from '../support/http/stub-node.ts';

const nftPath = NFT + facts.nftId;
const good = () => post(JSON.stringify(facts.whiteFlag));

describe('NFT answers', () => {
  const fetch = fetchFrom();
  const state = facts.nftOutputId.slice(2);
  const tag = `W/"17339-${state}"`;

  it('may be kept for seconds, and carry a tag', async () => {
    const etag = await checkLedgerRead(fetch, nftPath, facts.ledgerIndex);
    expect(etag).toBe(tag);
  });

  it.each([
    ['the tag', tag, 304],
    ['the tag, strong', `"17339-${state}"`, 304],
    ['one of several', `"a", ${tag} ,"b"`, 304],
    ['any', '*', 304],
    ['the tag of an older ledger', `W/"17338-${state}"`, 200],
    ['the tag of another output', `W/"17339-${state.slice(0, -1)}1"`, 200],
    ['the tag of its state', `W/"${state}"`, 200],
    ['no tag', `17339-${state}`, 200],
    ['nothing', '', 200],
  ])('If-None-Match with %s: %s is %i', async (_, ifNoneMatch, status) => {
    const response = await fetch(nftPath, { headers: { 'if-none-match': ifNoneMatch } });
    expect(response.status).toBe(status);
    expect(response.headers.get('etag')).toBe(tag);
    expect(response.headers.get('x-ledger-index')).toBe('17339');
    if (status === 304)
      expect([await response.text(), response.headers.get('content-type')]).toEqual(['', null]);
  });

  it('to clients that require an index: their tag is that of the state, at later milestones too', async () => {
    const later = fetchFrom({
      node: {
        lookUpNft: async (nftId) => ({
          ...(await stubNode.lookUpNft(nftId)),
          ledgerIndex: 17_400,
        }),
      },
    });
    const asked = { 'x-min-ledger-index': '0', 'if-none-match': `W/"${state}"` };
    const seen = await fetch(nftPath, { headers: asked });
    const unchanged = await later(nftPath, {
      headers: { ...asked, 'x-min-ledger-index': '17340' },
    });
    expect([seen.status, seen.headers.get('x-ledger-index')]).toEqual([304, '17339']);
    expect([unchanged.status, unchanged.headers.get('x-ledger-index')]).toEqual([304, '17400']);
    const other = { ...asked, 'if-none-match': `W/"${state.slice(0, -1)}1"` };
    expect((await fetch(nftPath, { headers: other })).status).toBe(200);
    expect((await later(nftPath, { headers: { 'if-none-match': tag } })).status).toBe(200);
  });

  it('that say no are not kept', async () => {
    const response = await fetch(`${NFT}0x${'00'.repeat(32)}`, {
      headers: { 'if-none-match': '*' },
    });
    expect([response.status, response.headers.get('cache-control')]).toEqual([404, 'no-store']);
  });
});

describe('other answers', () => {
  it.each(['/health', '/api/routes', '/api/core/v2/info', '/nowhere'])(
    '%s is not kept',
    async (path) => {
      expect((await fetchFrom()(path)).headers.get('cache-control')).toBe('no-store');
    },
  );
});

describe('white flag', () => {
  /** An app whose node counts what it computes. */
  function counting(
    cache = new OpenCache(),
    change?: (asked: number) => WhiteFlagResult | undefined,
  ) {
    let computed = 0;
    const fetch = fetchFrom({
      cache,
      node: {
        computeWhiteFlag: async () => {
          computed++;
          return change?.(computed) ?? stubNode.computeWhiteFlag();
        },
      },
    });
    return { fetch, cache, computed: () => computed };
  }

  it('computes a request once, in whatever spelling it comes', async () => {
    const { fetch, computed, cache } = counting();
    const { whiteFlag } = facts;
    const upper = (id: string) => `0X${id.slice(2).toUpperCase()}`;
    const first = await fetch(WHITE_FLAG, good());
    const second = await fetch(
      WHITE_FLAG,
      post(
        JSON.stringify({
          more: 1,
          previousMilestoneId: upper(whiteFlag.previousMilestoneId),
          parents: [...whiteFlag.parents, ...whiteFlag.parents].map(upper),
          timestamp: whiteFlag.timestamp,
          index: whiteFlag.index,
        }),
      ),
    );
    expect(computed()).toBe(1);
    expect(cache.kept.size).toBe(1);
    expect(await second.text()).toBe(await first.text());
    expect([...second.headers]).toEqual([...first.headers]);
    expect(second.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    { index: facts.whiteFlag.index + 1 },
    { timestamp: facts.whiteFlag.timestamp + 1 },
    { parents: facts.whiteFlag.parents.slice(1) },
    { parents: [...facts.whiteFlag.parents].reverse() },
    { previousMilestoneId: `0x${'ee'.repeat(32)}` },
  ])('computes another request by itself: %j', async (change) => {
    const { fetch, computed } = counting();
    await fetch(WHITE_FLAG, good());
    await fetch(WHITE_FLAG, post(JSON.stringify({ ...facts.whiteFlag, ...change })));
    expect(computed()).toBe(2);
  });

  it.each([
    ['impossible', 400],
    ['unknown', 404],
    ['failed', 500],
  ] as const)('never keeps a refusal: %s, %i', async (reason, status) => {
    const refusal = { ok: false as const, reason, detail: 'not now' };
    const { fetch, cache } = counting(undefined, (asked) => (asked === 1 ? refusal : undefined));
    expect((await fetch(WHITE_FLAG, good())).status).toBe(status);
    expect(cache.kept.size).toBe(0);
    expect((await fetch(WHITE_FLAG, good())).status).toBe(200);
  });

  it('does not let a kept answer pass the rules of the route', async () => {
    const cache = new OpenCache();
    await fetchFrom({ cache })(WHITE_FLAG, good());
    expect(cache.kept.size).toBe(1);
    const closed = fetchFrom({ cache, settings: { publicRoutes: ['/health'] } });
    await expectError(closed, WHITE_FLAG, 403, good());
    const limited = fetchFrom({
      cache,
      settings: { whiteFlagLimit: { limit: async () => ({ success: false }) } },
    });
    await expectError(limited, WHITE_FLAG, 429, good());
  });
});

describe('the cache of the data centre', () => {
  it('gives back what was put under a key, and nothing for another', async () => {
    const cache = new CacheApi(caches.default, 'one');
    await cache.put('index=5&parents=aa.bb', '{"x":1}');
    expect(await cache.match('index=5&parents=aa.bb')).toBe('{"x":1}');
    expect(await cache.match('index=5&parents=bb.aa')).toBeUndefined();
  });

  it('is read by the version alone that put it', async () => {
    await new CacheApi(caches.default, 'wrong').put('index=6', '{"x":1}');
    expect(await new CacheApi(caches.default, 'right').match('index=6')).toBeUndefined();
  });

  it('is told to keep an answer for an hour', async () => {
    const put = vi.fn<Cache['put']>(async () => {});
    await new CacheApi({ put } as unknown as Cache, 'one').put('index=7', '{}');
    expect((put.mock.calls[0]![1] as Response).headers.get('cache-control')).toBe(
      'public, max-age=3600',
    );
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('Cache API: internal error'))],
    ['hangs', () => new Promise<never>(() => {})],
  ])('that %s costs no answer, one line of log and one wait', async (_, fail) => {
    const log = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const match = vi.fn<Cache['match']>(fail);
    const cache = new CacheApi({ match, put: fail } as unknown as Cache, 'one');
    const fetch = fetchFrom({ cache });
    for (let i = 0; i < 3; i++) expect((await fetch(WHITE_FLAG, good())).status).toBe(200);
    await cache.put('index=9', '{}');
    expect([match.mock.calls.length, log.mock.calls.length]).toEqual([1, 1]);
    log.mockRestore();
  });

  it('is not used without a version ID, nor where one isolate answers everything', async () => {
    const forbidden = {
      get default(): Cache {
        throw new Error('the Cache API is used');
      },
    };
    const none = openResponseCache({ oneIsolate: false, versionId: undefined }, forbidden);
    await none.put('index=8', '{}');
    expect(await none.match('index=8')).toBeUndefined();
    const memory = openResponseCache({ oneIsolate: true, versionId: 'one' }, forbidden);
    await memory.put('index=8', '{}');
    expect(await memory.match('index=8')).toBe('{}');
  });

  it('keeps answers of the white flag', async () => {
    const cache = new CacheApi(caches.default, 'one');
    const first = await fetchFrom({ cache })(WHITE_FLAG, good());
    const without = fetchFrom({
      cache,
      node: { computeWhiteFlag: () => Promise.reject(new Error('asked again')) },
    });
    const second = await without(WHITE_FLAG, good());
    expect([second.status, await second.text()]).toEqual([200, await first.text()]);
  });
});
