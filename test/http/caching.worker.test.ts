/** What may be kept, where and for how long (docs/contract.md#caching). */
import { describe, expect, it } from 'vitest';
import { checkLedgerRead, NFT, post, WHITE_FLAG } from '../support/http/contract.ts';
import { facts, fetchFrom, stubNode } from '../support/http/stub-node.ts';

const nftPath = NFT + facts.nftId;

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
  it('computes each request: no copy outlives the ledger that it is of', async () => {
    let computed = 0;
    const fetch = fetchFrom({
      node: {
        computeWhiteFlag: async () => {
          computed++;
          return stubNode.computeWhiteFlag();
        },
      },
    });
    for (let i = 1; i <= 2; i++) {
      const { status, headers } = await fetch(WHITE_FLAG, post(JSON.stringify(facts.whiteFlag)));
      expect([status, headers.get('cache-control'), computed]).toEqual([200, 'no-store', i]);
    }
  });
});
