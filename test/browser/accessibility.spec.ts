/**
 * The page for everybody: in each of its states axe finds nothing and nothing is wider than the
 * screen; by keyboard alone all of it can be used, and what comes of it is announced. In Chromium
 * and Firefox, light and dark, on a phone and on a desktop.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  SCHEMES,
  type Size,
} from '../support/browser/driven-page.ts';
import { SAMPLE_ISSUER as ISSUER, SAMPLE_KEYS } from '../support/browser/sample-facts.ts';
import { fill, overhangOf, send, untilText } from '../support/browser/use-page.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';

const UNKNOWN = `0x${'5a'.repeat(32)}`;

let worker: SampleWorker;
let empty: string;

beforeAll(async () => {
  worker = await serveSample();
  empty = await worker.startEmpty();
}, 180_000);
afterAll(() => worker?.stop());

/** The page's states, each of which leads to the next. */
const STATES: Record<string, (page: DrivenPage) => Promise<void>> = {
  async 'nothing asked yet'(page) {
    await untilText(page, 'ledger', /17339/);
  },
  async 'an NFT'(page) {
    await fill(page, { 'nft-id': worker.nft.nftId });
    await send(page, 'nft');
    await untilText(page, 'nft-facts', /Soonanaut/);
  },
  async 'a list, and its next page'(page) {
    await fill(page, { 'list-by': 'issuer', 'list-address': ISSUER });
    await send(page, 'list');
    await untilText(page, 'list-answer', /^1 to 10/);
    await send(page, 'list-more');
    await untilText(page, 'list-answer', /^11 to 20/);
  },
  async 'a white flag'(page) {
    await send(page, 'fill');
    await expect
      .poll(() => page.evaluate('document.getElementById("flag-body").value'))
      .toContain('17339');
    await send(page, 'flag');
    await untilText(page, 'flag-verdict', /^Both roots/);
  },
  async 'an explanation'(page) {
    await send(page, 'explain');
    await untilText(page, 'blocks', /transaction, applied/);
  },
  async 'a verification'(page) {
    await fill(page, { 'verify-keys': SAMPLE_KEYS.join('\n'), 'verify-threshold': '7' });
    await send(page, 'verify');
    await untilText(page, 'verify-verdict', /^Verified/);
  },
  async 'nothing but refusals'(page) {
    await fill(page, {
      'nft-id': UNKNOWN,
      'list-address': 'smr1',
      'flag-body': '{',
      'explain-index': '99999',
      'verify-keys': UNKNOWN,
      'verify-threshold': '',
    });
    for (const form of ['nft', 'list', 'flag', 'explain', 'verify']) await send(page, form);
    for (const answer of ['nft-answer', 'list-answer', 'flag-answer', 'explain-answer'])
      await untilText(page, answer, /^HTTP 40/);
    await untilText(page, 'verify-verdict', /^Not verified/);
  },
};

describe.each(DRIVERS)('in $name', ({ launch }) => {
  describe.each(SCHEMES)('in %s colours', (scheme) => {
    let browser: DrivenBrowser;

    beforeAll(async () => {
      browser = await launch(scheme);
    }, 120_000);
    afterAll(() => browser?.close());

    describe.each<Size>(['phone', 'desktop'])('on a %s', (size) => {
      let page: DrivenPage;

      beforeAll(async () => {
        page = await browser.open(`${worker.url}/`, size);
      }, 60_000);
      afterAll(() => page?.close());

      it('has these colours', async () => {
        const dark = 'matchMedia("(prefers-color-scheme: dark)").matches';
        expect(await page.evaluate(dark)).toBe(scheme === 'dark');
      });

      it.each(Object.entries(STATES))('has no fault that axe finds: %s', async (_, reach) => {
        await reach(page);
        expect(await audit(page)).toEqual([]);
        expect(await overhangOf(page)).toBe(0);
      });

      it('has none where there is no ledger', async () => {
        const other = await browser.open(`${empty}/`, size);
        await untilText(other, 'ledger', /^StateHTTP 500/);
        expect(await audit(other)).toEqual([]);
        expect(await overhangOf(other)).toBe(0);
        await other.close();
      });
    });
  });
});
