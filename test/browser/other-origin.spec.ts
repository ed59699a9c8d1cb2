/**
 * The Worker as pages of other origins meet it, in Chromium and in Firefox: by `fetch` with headers
 * of which a browser asks first, and by sdk-wasm as it is.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readWhiteFlag } from '../../cli/start/sample.ts';
import { DRIVERS, type DrivenBrowser, type DrivenPage } from '../support/browser/driven-page.ts';
import { type OtherOrigin, serveOtherOrigin } from '../support/browser/other-origin-site.ts';
import { errorBody, NFT, post, WHITE_FLAG } from '../support/http/contract.ts';

const LEDGER_INDEX = 17_339;

/** What a script of another origin sees of an answer. */
interface Seen {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const { url, nft, limited } = inject('sample');

let wallet: OtherOrigin;

beforeAll(async () => {
  wallet = await serveOtherOrigin();
});
afterAll(() => wallet?.stop());

describe.each(DRIVERS)('from another origin in $name', ({ launch }) => {
  let browser: DrivenBrowser;
  let page: DrivenPage;

  beforeAll(async () => {
    browser = await launch();
    page = await browser.open(`${wallet.url}/`, 'desktop');
  });
  afterAll(() => browser?.close());

  function ask(path: string, init: RequestInit = {}, node = url): Promise<Seen> {
    return page.evaluate(`fetch(${JSON.stringify(node + path)}, ${JSON.stringify(init)}).then(
      async (response) => ({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      }),
    )`) as Promise<Seen>;
  }

  const REQUEST_HEADERS = [
    ['no header', {}],
    ['User-Agent', { 'User-Agent': 'wallet/1.0' }],
    ['X-Min-Ledger-Index', { 'X-Min-Ledger-Index': String(LEDGER_INDEX) }],
    ['Authorization', { Authorization: 'Bearer of-no-use-here' }],
    [
      'all of them, and its own',
      {
        'User-Agent': 'wallet/1.0',
        'X-Min-Ledger-Index': String(LEDGER_INDEX),
        Authorization: 'Bearer of-no-use-here',
        'X-Wallet': '1',
      },
    ],
  ] satisfies [string, Record<string, string>][];

  it.each(REQUEST_HEADERS)(
    'finds an NFT, and sees the ledger index and the ETag, with %s',
    async (_, headers) => {
      const { nftId, outputId } = nft;
      const { status, headers: seen, body } = await ask(NFT + nftId, { headers });
      expect([status, JSON.parse(body)]).toEqual([
        200,
        { ledgerIndex: LEDGER_INDEX, items: [outputId] },
      ]);
      expect(seen['x-ledger-index']).toBe(String(LEDGER_INDEX));
      expect(seen.etag).toMatch(/^W\/".+"$/);
    },
  );

  it.each(REQUEST_HEADERS)('computes a white flag, with %s', async (_, headers) => {
    const { request, expected } = readWhiteFlag();
    const init = post(JSON.stringify(request), { 'Content-Type': 'application/json', ...headers });
    const { status, headers: seen, body } = await ask(WHITE_FLAG, init);
    expect([status, JSON.parse(body)]).toEqual([200, expected]);
    expect(seen['x-ledger-index']).toBe(String(LEDGER_INDEX));
  });

  it('is understood in what it asks, and sees why it is refused', async () => {
    const headers = { 'X-Min-Ledger-Index': String(LEDGER_INDEX + 1) };
    const { status, headers: seen, body } = await ask(NFT + nft.nftId, { headers });
    expect(seen['x-error-detail']).toContain(`the ledger is at ${LEDGER_INDEX}`);
    expect([status, body]).toEqual([404, errorBody(404)]);
  });

  it('asks again by ETag', async () => {
    const { headers } = await ask(NFT + nft.nftId);
    const init: RequestInit = { headers: { 'If-None-Match': headers.etag! }, cache: 'no-store' };
    expect(await ask(NFT + nft.nftId, init)).toMatchObject({ status: 304, body: '' });
  });

  it('sees how long it has to wait', async () => {
    const refused = {
      status: 429,
      headers: { 'retry-after': '60' },
      body: errorBody(429),
    };
    await expect.poll(() => ask(WHITE_FLAG, post('{}'), limited)).toMatchObject(refused);
  });

  describe('sdk-wasm', () => {
    beforeAll(async () => {
      await page.evaluate(`import('/sdk.js').then(async (sdk) => {
        await sdk.default('/sdk.wasm');
        globalThis.sdk = sdk;
      })`);
    });

    /** Calls a method of a Client of which our Worker is the node, its only one. */
    async function call(method: string, argument?: string, auth?: object): Promise<unknown> {
      const options = JSON.stringify({ nodes: [{ url, ...(auth && { auth }) }] });
      const json = await page.evaluate(`(async () => {
        const answer = await new sdk.Client(${options}).${method}(${JSON.stringify(argument) ?? ''});
        return JSON.stringify(answer);
      })()`);
      return JSON.parse(String(json));
    }

    it('learns about the node', async () => {
      expect(await call('getInfo')).toMatchObject({
        nodeInfo: {
          status: { isHealthy: false, confirmedMilestone: { index: LEDGER_INDEX } },
          protocol: { networkName: 'shimmer' },
        },
      });
    });

    it('finds an NFT and reads its output', async () => {
      const { nftId, outputId } = nft;
      expect(await call('nftOutputId', nftId)).toBe(outputId);
      expect(await call('getOutput', outputId)).toMatchObject({
        output: { type: 6, amount: '170800' },
        metadata: { isSpent: false, ledgerIndex: LEDGER_INDEX },
      });
    });

    it('finds an NFT with a token for the node', async () => {
      const { nftId, outputId } = nft;
      expect(await call('nftOutputId', nftId, { jwt: 'of-no-use-here' })).toBe(outputId);
    });
  });
});
