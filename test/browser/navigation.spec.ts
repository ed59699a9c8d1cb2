/**
 * Ways through the explorer: back to where one was, to the search by one key, past the masthead, and
 * on from a view whose script does not come.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { AddressType } from '../../src/stardust/wire/address.ts';
import { DRIVERS, type DrivenBrowser, type DrivenPage } from '../support/browser/driven-page.ts';
import { SAMPLE_ISSUER } from '../support/browser/sample-facts.ts';
import {
  click,
  countOf,
  open,
  overhangOf,
  readFocus,
  textOf,
  untilCount,
} from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, startLyingNode } from '../support/lies/lying-node.ts';

const { url, indexed, nft } = inject('sample');

/** Has a basic output and one with a native token. */
const HOLDER = toBech32('smr', {
  type: AddressType.Ed25519,
  id: fromHex('0x74e9dba11353725665a10e21090b15277dff358efb445a4e7538b8ff3b7bd647'),
});

/** Of scripts and styles; compressed, they are counted in test/cli/bundle-explorer.test.ts. */
const MAX_FILES = 8;

const MAX_SHIFT = 0.1;

/** In the browser's first window, by path. */
const PAGES = [
  '/',
  `/nft/${nft.nftId}`,
  `/output/${nft.outputId}`,
  `/address/${HOLDER}`,
  `/issuer/${SAMPLE_ISSUER}`,
  '/transaction/0x9d9a3945ad73eba4cbbdaea724d8dacb7c45c4d7500a0d3f16ce40e31803921e',
  '/milestone/17339',
  '/milestones',
  '/nfts',
  '/tokens',
  '/reference',
  '/reference/readNft',
  '/verify',
];

/** How far what was seen moved, all in all (https://web.dev/articles/cls); Firefox does not say. */
const shiftOf = async (page: DrivenPage) =>
  Number(
    await page.evaluate(`new Promise((resolve) => {
      const observer = new PerformanceObserver((list) => {
        resolve(list.getEntries().reduce((sum, each) => sum + each.value, 0));
      });
      observer.observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => resolve(0), 500);
    })`),
  );

describe.each(DRIVERS)('in $name', ({ name: browserName, launch }) => {
  let browser: DrivenBrowser;
  let node: LyingNode;
  let page: DrivenPage;

  beforeAll(async () => {
    browser = await launch({});
    node = await startLyingNode(nodeAt(url));
    page = await browser.open(`${node.url}/`, 'desktop');
  });
  afterAll(async () => {
    await browser?.close();
    await node?.[Symbol.asyncDispose]();
  });

  it('leads past the masthead, and to the search, by one key', async () => {
    await untilCount(page, '.home', 1);
    await page.keyboard.press('Tab');
    expect(await readFocus(page)).toMatchObject({ label: 'Skip to the page', isSeen: true });
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN');
    await page.keyboard.type('/');
    expect(await page.evaluate('document.activeElement.id')).toBe('search');
    // within the field it is a letter
    await page.keyboard.type('/');
    expect(await page.evaluate('document.activeElement.value')).toBe('/');
    expect(await page.evaluate('document.activeElement.placeholder')).toBe('0x…, 17339 or smr1…');
  });

  it('leads to everything by the masthead', async () => {
    const titles = {
      Milestones: /^17339 to /,
      NFTs: /^Minted or moved last$/,
      API: /^What this node answers$/,
      Verify: /^Do not trust this node$/,
    };
    for (const [name, title] of Object.entries(titles)) {
      await click(page, '.masthead nav a', name);
      await textOf(page, 'main h1').toMatch(title);
      await textOf(page, '.masthead nav [aria-current=page]').toBe(name);
    }
    const all = await browser.open(`${indexed}/`, 'desktop');
    await click(all, '.masthead nav a', 'Tokens');
    await textOf(all, 'main h1').toBe('Native tokens');
    await all.close();
  });

  it.each(PAGES)('%s loads few files, stays where it is, and has room at 320 px', async (path) => {
    const opened = await browser.open(`${indexed}${path}`, 'narrow');
    await untilCount(opened, '.page h1, .hero', 1);
    await untilCount(opened, '.loading', 0);
    const files = (await opened.evaluate(
      `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)
        .filter((path) => /\\.(js|css)$/.test(path) && path !== '/explorer/layout.js')`,
    )) as string[];
    expect(files.length, files.join(' ')).toBeLessThanOrEqual(MAX_FILES);
    expect(await overhangOf(opened)).toBe(0);
    if (browserName === 'Chromium') expect(await shiftOf(opened)).toBeLessThan(MAX_SHIFT);
    expect(opened.faults).toEqual([]);
    await opened.close();
  });

  it('goes back to where one was on the page', async () => {
    // a page behind others is given no frames
    const page = await browser.open(`${node.url}/milestone/17339`, 'desktop');
    await untilCount(page, '.table', 1);
    await untilCount(page, '.loading', 0);
    await page.evaluate('scrollTo(0, 700)');
    await expect.poll(() => page.evaluate('scrollY')).toBe(700);
    // the page learns of it with the next frame
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve()))');
    await open(page, '/verify');
    await textOf(page, 'main h1').toBe('Do not trust this node');
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.evaluate('history.back()');
    await textOf(page, 'main h1').toBe('17339');
    await expect.poll(() => page.evaluate('scrollY')).toBe(700);
    await page.close();
  });

  it('has a button where the script of a view does not come', async () => {
    const page = await browser.open(`${node.url}/`, 'desktop');
    await untilCount(page, '.hero', 1);
    node.lie([
      {
        concerns: ({ path }) => path.startsWith('/explorer/'),
        tell: async () => ({ status: 503, headers: {}, body: new Uint8Array() }),
      },
    ]);
    await open(page, '/api');
    await textOf(page, 'main').toMatch(/A part of this page could not be loaded\./);
    expect(await countOf(page, 'main button:not(form *)')).toBe(1);
    node.lie([]);
    await page.close();
  });
});
