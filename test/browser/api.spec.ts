/**
 * The page of the API: it lists what openapi.json describes, sends what was filled in, shows what the
 * node answers, and takes whatever a node describes as text.
 */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import openapi from '../../src/http/openapi/openapi.json';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  SCREENS,
} from '../support/browser/driven-page.ts';
import { expectPicture } from '../support/browser/expected-picture.ts';
import {
  click,
  countOf,
  fill,
  open,
  overhangOf,
  textOf,
  unfold,
  untilCount,
} from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, startLyingNode } from '../support/lies/lying-node.ts';
import { inJson, type Json } from '../support/lies/rules.ts';

const { url } = inject('sample');

/** The NFT that was minted last. */
const NEWEST = '0x18f7b26311ce64bf02de269fbe12359b7797e9d12521bf28c3351c70d72fb954';

const MARKUP = '<img src="https://elsewhere.example/x.png" onerror="document.title = 1">';
const OPERATIONS = Object.values(openapi.paths).flatMap((item) => Object.values(item));

/** The operations whose form is filled by an example; those of white flag scan for longer. */
const FILLED = OPERATIONS.filter(
  ({ responses }) =>
    (responses as Json)['200'].content?.['application/json']?.example !== undefined,
).map(({ operationId }) => operationId);

describe.each(DRIVERS)('in $name', ({ name: browserName, launch }) => {
  describe.each(SCREENS)('on a %s, in %s colours', (size, scheme) => {
    let browser: DrivenBrowser;
    let node: LyingNode;
    let page: DrivenPage;

    beforeAll(async () => {
      browser = await launch({ scheme });
      node = await startLyingNode(nodeAt(url));
      page = await browser.open(`${url}/`, size);
    });
    afterAll(async () => {
      await browser?.close();
      await node?.[Symbol.asyncDispose]();
    });
    afterEach(async () => {
      expect(page.faults.splice(0)).toEqual([]);
      expect(await overhangOf(page)).toBe(0);
    });

    const loaded = async () =>
      (await page.evaluate(
        `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`,
      )) as string[];

    it('is loaded when it is opened, and lists every operation', async () => {
      await textOf(page, '#ledger-state').toMatch(/years old$/);
      expect(await loaded()).not.toContain('/openapi.json');
      await click(page, '.masthead nav a', 'API');
      await textOf(page, 'main h1').toBe('What this node answers');
      await untilCount(page, '.operations li', OPERATIONS.length);
      expect(await loaded()).toContain('/openapi.json');
      expect(await audit(page)).toEqual([]);
      if (browserName === 'Chromium') await expectPicture(page, `api-${size}`);
    });

    it('sends what was filled in, and shows the answer with its headers', async () => {
      await click(page, '.operations a', 'GET /api/edge/v1/nfts/{nftId}');
      await textOf(page, 'main h1').toBe('GET /api/edge/v1/nfts/{nftId}');
      await untilCount(page, '.fields label:nth-child(2) input', 1);
      if (browserName === 'Chromium') await expectPicture(page, `operation-${size}`);
      await fill(page, '.fields label:nth-child(2) input', '17339');
      await textOf(page, '.try-it .id code').toBe(
        `curl '${url}/api/edge/v1/nfts/${NEWEST}' -H 'X-Min-Ledger-Index: 17339'`,
      );
      await click(page, '.fields button', 'Send');
      await textOf(page, '.answer h3').toMatch(/^This node answers 200, after \d+ ms$/);
      await textOf(page, '.answer .facts').toMatch(/x-ledger-index 17339.*cache-control no-store/);
      await textOf(page, '.answer pre').toContain('"trait_type": "Background"');
      await unfold(page);
      await textOf(page, 'main').toContain('NFTClaims, may be absent');
      expect(await audit(page)).toEqual([]);
    });

    it('sends a body, and shows bytes as hex', async () => {
      await open(page, '/api/computeWhiteFlag');
      // of today's tips, once they are read
      const body = `document.querySelector('.fields textarea').value`;
      await expect.poll(() => page.evaluate(body)).toMatch(/"index": 17340,.*"0x/s);
      const method = 'POST';
      const headers = { 'content-type': 'application/json' };
      const init = { method, headers, body: String(await page.evaluate(body)) };
      const answer = await fetch(`${url}/api/core/v2/whiteflag`, init);
      const { inclusionMerkleRoot } = (await answer.json()) as { inclusionMerkleRoot: string };
      await click(page, '.fields button', 'Send');
      await textOf(page, '.answer pre').toContain(
        `"inclusionMerkleRoot": "${inclusionMerkleRoot}"`,
      );
      await open(page, '/api/readOutput');
      await textOf(page, 'main h1').toContain('outputId');
      await untilCount(page, '.fields select', 1);
      await fill(page, '.fields select', 'bytes');
      await click(page, '.fields button', 'Send');
      await textOf(page, '.answer pre').toMatch(/^0x06[0-9a-f]+$/);
    });

    const isFirst = browserName === 'Chromium' && size === 'desktop';
    it.runIf(isFirst).each(FILLED)('answers the example of %s', async (operationId) => {
      await open(page, `/api/${operationId}`);
      await untilCount(page, '.answer', 0);
      await textOf(page, '.try-it code').not.toBe('');
      await click(page, '.fields button', 'Send');
      await textOf(page, '.answer h3').toMatch(/^This node answers 200/);
    });

    it('says what there is not', async () => {
      await open(page, '/api/nothing');
      await textOf(page, 'main').toMatch(/No such operation.*All operations/);
      expect(await audit(page)).toEqual([]);
    });

    it('takes what a node describes and answers as text', async () => {
      const change = (document: Json) => {
        document.tags[0].description = MARKUP;
        const operation = document.paths['/api/routes'].get;
        Object.assign(operation, {
          summary: MARKUP,
          tags: ['core'],
          description: 'x'.repeat(5000),
        });
        operation.parameters = [
          { in: 'query', name: MARKUP, description: MARKUP, schema: { type: MARKUP } },
        ];
        operation.responses[200].description = MARKUP;
        document.components.schemas.ApiRoutes.properties[MARKUP] = { type: 'x'.repeat(5000) };
      };
      node.lie([
        inJson('/openapi.json', change),
        inJson('/api/routes', (answer: Json) => {
          answer[MARKUP] = MARKUP;
        }),
      ]);
      const other = await browser.open(`${node.url}/#/api`, size);
      await textOf(other, '.operations').toContain(MARKUP);
      await open(other, '/api/listApis');
      await textOf(other, '.lead').toBe(MARKUP);
      await click(other, '.fields button', 'Send');
      await textOf(other, '.answer pre').toContain('onerror');
      await unfold(other);
      expect(await countOf(other, 'main img')).toBe(0);
      expect(await overhangOf(other)).toBe(0);
      expect(other.faults).toEqual([]);
      await other.close();
    });
  });
});
