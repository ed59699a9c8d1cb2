/**
 * The explorer for everybody: in each of its views and states axe finds nothing, and nothing is wider
 * than the screen. In Chromium and Firefox, light and dark, on a phone and on a desktop.
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
import { SAMPLE_ISSUER as ISSUER } from '../support/browser/sample-facts.ts';
import {
  click,
  open,
  overhangOf,
  search,
  untilCount,
  untilText,
} from '../support/browser/use-page.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';

const UNKNOWN = `0x${'5a'.repeat(32)}`;
const BLOCK = '0xd79a2feb857ffe4791bfae2d2e991463bbcc6d9f9d2eeb1276d0931f16ae14dd';
const OUTPUT = '0x9d9a3945ad73eba4cbbdaea724d8dacb7c45c4d7500a0d3f16ce40e31803921e0600';

let worker: SampleWorker;
let empty: string;
let fresh: string;

beforeAll(async () => {
  worker = await serveSample();
  [empty, fresh] = await Promise.all([worker.startEmpty(), worker.startFresh()]);
}, 180_000);
afterAll(() => worker?.stop());

/** How each view and state is reached, one after the other. */
const STATES: Record<string, (page: DrivenPage) => Promise<void>> = {
  async home(page) {
    await untilText(page, '.home', /Soonanaut.*An address/s);
    await untilText(page, '.home', /38 blocks/);
  },
  async 'an NFT'(page) {
    await search(page, worker.nft.nftId);
    await untilText(page, '.claims', /Soonanaut #2526/);
  },
  async 'an NFT with its JSON'(page) {
    await click(page, 'summary', 'Metadata as JSON');
    await page.evaluate(
      `document.querySelectorAll('details').forEach((each) => (each.open = true))`,
    );
    await untilText(page, 'pre', /IRC27/);
  },
  async 'a gallery'(page) {
    await open(page, `/issuer/${ISSUER}`);
    await untilCount(page, '.gallery li', 22);
  },
  async 'an empty gallery'(page) {
    await open(page, `/address/${ISSUER}`);
    await untilText(page, '.reason', /no NFT is held/);
  },
  async 'a milestone with a block'(page) {
    await open(page, `/milestone/17339?block=${BLOCK}`);
    await untilCount(page, 'svg .block[role=button]', 38);
    await untilText(page, '.merkle', /lead to the signed root/);
  },
  async 'a block'(page) {
    await open(page, `/block/${BLOCK}`);
    await untilText(page, '.merkle', /lead to the signed root/);
  },
  async 'an output'(page) {
    await open(page, `/output/${OUTPUT}`);
    await untilText(page, 'main', /unspent at ledger index 17339/);
  },
  async 'a proposal'(page) {
    await open(page, '/proposal');
    await click(page, 'button', 'Propose milestone');
    await untilText(page, 'main', /is yet to come/);
    await untilCount(page, 'svg .block[role=button]', 43);
    await page.evaluate(
      `document.querySelectorAll('details').forEach((each) => (each.open = true))`,
    );
  },
  async 'a verification'(page) {
    await open(page, '/verify');
    await click(page, 'button', 'Verify');
    await untilText(page, '#verdict', /Verified/);
  },
  async 'something that is not there'(page) {
    await open(page, `/search?q=${UNKNOWN}`);
    await untilText(page, 'main h1', /Not found/);
  },
  async 'something that is not recognised'(page) {
    await search(page, '0x12');
    await untilText(page, '#search-problem', /2 hex digits/);
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

      it.each([
        ['there is no ledger', () => empty, '/', /No ledger to look into/],
        ['there is only a snapshot', () => fresh, '/milestone/17338', /nothing to check here yet/],
      ])('has none where %s', async (_, url, fragment, text) => {
        const other = await browser.open(`${url()}/#${fragment}`, size);
        await untilText(other, 'main', text);
        expect(await audit(other)).toEqual([]);
        expect(await overhangOf(other)).toBe(0);
        await other.close();
      });
    });
  });
});
