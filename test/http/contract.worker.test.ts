/** The error table of docs/contract.md, one test a row, over made-up data. */
import { describe, expect, it } from 'vitest';
import {
  checkAlways,
  checkRow,
  errorBody,
  expectError,
  NFT,
  nftRows,
  post,
  WHITE_FLAG,
  whiteFlagRows,
} from '../support/http/contract.ts';
import { facts, fetchFrom } from '../support/http/stub-node.ts';

const fetch = fetchFrom();
const good = post(JSON.stringify(facts.whiteFlag));

describe('NFT lookup', () => {
  it.each(nftRows(facts))('$name', (row) => checkRow(fetch, row));
});

describe('white flag', () => {
  it.each(whiteFlagRows(facts))('$name', (row) => checkRow(fetch, row));

  it.each([
    ['impossible', undefined, 400, null],
    ['unknown', undefined, 404, `${facts.whiteFlag.index - 1}`],
    ['unknown', 7, 404, '7'],
    ['failed', undefined, 500, null],
  ] as const)('refused as %s, the ledger at %s: %i', async (reason, at, status, ledgerIndex) => {
    const refusal = { ok: false, reason, detail: 'why', ...(at && { ledgerIndex: at }) } as const;
    const refusing = fetchFrom({ node: { computeWhiteFlag: async () => refusal } });
    const headers = { 'x-error-detail': 'why', 'x-ledger-index': ledgerIndex };
    await expectError(refusing, WHITE_FLAG, status, good, headers);
  });
});

describe('403: not public', () => {
  const closed = fetchFrom({ settings: { publicRoutes: ['/api/indexer/v1/*'] } });

  it('the white flag, whatever the method or the body', async () => {
    for (const init of [good, post('nonsense'), { method: 'GET' }]) {
      await expectError(closed, WHITE_FLAG, 403, init);
    }
  });

  it('what no pattern names; what one names stays open; unknown paths stay unknown', async () => {
    await expectError(closed, NFT + facts.nftId.slice(0, -1), 400);
    await expectError(closed, '/api/core/v2/nothing', 404);
    const noNfts = fetchFrom({ settings: { publicRoutes: ['/api/core/*'] } });
    await expectError(noNfts, NFT + facts.nftId, 403);
    await expectError(noNfts, `${NFT}0x`, 403);
  });
});

describe('500: anything unexpected', () => {
  const secret = new Error('D1_ERROR: no such table: head at /srv/secret.ts');
  const fail = () => Promise.reject(secret);
  const broken = fetchFrom({ node: { computeWhiteFlag: fail, lookUpNft: fail } });

  it.each([
    ['NFT lookup', NFT + facts.nftId, undefined],
    ['white flag', WHITE_FLAG, good],
  ])('%s, with nothing of the error in the answer', async (_, path, init) => {
    const response = await broken(path, init);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe(errorBody(500));
    expect(response.headers.get('x-error-detail')).toBeNull();
    expect(JSON.stringify([...response.headers])).not.toMatch(/D1|secret/);
  });
});

describe('X-Error-Detail', () => {
  const refuse = (detail: string) =>
    fetchFrom({
      node: { computeWhiteFlag: async () => ({ ok: false, reason: 'unknown', detail }) },
    })(WHITE_FLAG, good);

  it('has no spaces around it, and the body does not repeat it', async () => {
    const response = await refuse(` ${'y'.repeat(198)} z`);
    expect(response.headers.get('x-error-detail')).toBe('y'.repeat(198));
    expect(await response.text()).toBe(errorBody(404));
  });

  it('is printable ASCII, at most 200 characters', async () => {
    const response = await refuse(`é\r\nset-cookie: x${'y'.repeat(500)}`);
    expect(await response.text()).toBe(errorBody(response.status));
    expect(response.headers.get('x-error-detail')).toMatch(/^\?{3}set-cookie: xy+$/);
    expect(response.headers.get('x-error-detail')).toHaveLength(200);
    expect(response.headers.get('x-ledger-index')).toBe(String(facts.whiteFlag.index - 1));
  });
});

describe('methods', () => {
  it('HEAD is GET without the body', async () => {
    for (const path of [NFT + facts.nftId, `${NFT}0x`, '/nowhere', '/api/core/v2/info']) {
      const [head, get] = await Promise.all([fetch(path, { method: 'HEAD' }), fetch(path)]);
      expect(head.status).toBe(get.status);
      expect([...head.headers]).toEqual([...get.headers]);
      expect(await head.text()).toBe('');
    }
    const refused = await fetch(WHITE_FLAG, { method: 'HEAD' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });

  it.each([NFT + facts.nftId, WHITE_FLAG, '/nowhere', '/', '//'])(
    'OPTIONS %s is a preflight',
    async (path) => {
      for (const asked of [undefined, 'authorization,user-agent,x-min-ledger-index']) {
        const response = await fetch(path, {
          method: 'OPTIONS',
          headers: {
            origin: 'https://wallet.example',
            'access-control-request-method': 'POST',
            ...(asked !== undefined && { 'access-control-request-headers': asked }),
          },
        });
        expect(response.status).toBe(204);
        expect(await response.text()).toBe('');
        const allowed = response.headers.get('access-control-allow-headers');
        expect(allowed).toBe(asked ?? 'content-type, if-none-match');
        expect(response.headers.get('access-control-allow-methods')).toBe(
          'GET, HEAD, POST, OPTIONS',
        );
        expect(response.headers.get('vary')).toBe('Access-Control-Request-Headers');
        checkAlways(response);
      }
    },
  );
});

describe('a body that comes in pieces', () => {
  it('is cut off at 64 KiB although no length was announced', async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(8 * 1024).fill(0x20));
      },
    });
    const response = await fetch(WHITE_FLAG, { method: 'POST', body: endless });
    expect(response.status).toBe(400);
    expect(pulled).toBeLessThan(20);
  });

  it('is put together again', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(facts.whiteFlag));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect((await fetch(WHITE_FLAG, { method: 'POST', body })).status).toBe(200);
  });

  it('that breaks off is the fault of the client', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('gone'));
      },
    });
    await expectError(fetch, WHITE_FLAG, 400, { method: 'POST', body });
  });
});
