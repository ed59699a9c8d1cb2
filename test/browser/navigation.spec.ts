/**
 * Ways through the explorer: back to where one was, to the search by one key, past the masthead, and
 * on from a view whose script does not come.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { DRIVERS, type DrivenBrowser, type DrivenPage } from '../support/browser/driven-page.ts';
import { pagesOf, SAMPLE_HOLDER } from '../support/browser/sample-facts.ts';
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

const { url, indexed, ended, nft } = inject('sample');

/** URLs of one page of each kind. */
const PAGES = [
  ...pagesOf(nft).map((path) => [`a live node, ${path}`, indexed + path] as const),
  ...['/', `/address/${SAMPLE_HOLDER}`, `/statement/${SAMPLE_HOLDER}`, '/statement'].map(
    (path) => [`an ended node, ${path}`, ended + path] as const,
  ),
];

/** Of scripts and styles; compressed, they are counted in test/cli/bundle-explorer.test.ts. */
const MAX_FILES = 8;

const MAX_SHIFT = 0.1;

/** How far what was seen moved, all in all (https://web.dev/articles/cls); Firefox does not say. */
const shiftOf = async (page: DrivenPage) =>
  Number(
    await page.evaluate(`new Promise((resolve) => {
      let sum = 0;
      const add = (entries) => entries.forEach(({ value }) => { sum += value; });
      const observer = new PerformanceObserver((list) => add(list.getEntries()));
      observer.observe({ type: 'layout-shift', buffered: true });
      requestAnimationFrame(() => requestAnimationFrame(() => {
        add(observer.takeRecords());
        resolve(sum);
      }));
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
      Verify: /^Does this node tell the truth\?$/,
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

  it.each(PAGES)('%s: few files, no jumps, room at 320 px', async (_, pageUrl) => {
    let opened = await browser.open(pageUrl, 'narrow');
    await untilCount(opened, '.page h1, .hero', 1);
    await untilCount(opened, '.loading', 0);
    const files = (await opened.evaluate(
      `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)
        .filter((path) => /\\.(js|css)$/.test(path) && path !== '/explorer/layout.js')`,
    )) as string[];
    expect(files.length, files.join(' ')).toBeLessThanOrEqual(MAX_FILES);
    expect(await overhangOf(opened)).toBe(0);
    expect(opened.faults).toEqual([]);
    if (browserName === 'Chromium') {
      expect(await shiftOf(opened)).toBeLessThan(MAX_SHIFT);
      await opened.close();
      opened = await browser.open(pageUrl, 'desktop');
      await untilCount(opened, '.page h1, .hero', 1);
      await untilCount(opened, '.loading', 0);
      expect(await shiftOf(opened)).toBeLessThan(MAX_SHIFT);
    }
    await opened.close();
  });

  it('goes back to where one was on the page', async () => {
    // a page behind others is given no frames
    const page = await browser.open(`${node.url}/milestone/17339`, 'desktop');
    await untilCount(page, '.table', 1);
    await untilCount(page, '.loading', 0);
    await page.evaluate('scrollTo(0, 700)');
    await expect.poll(() => page.evaluate('Math.round(scrollY / 10)')).toBe(70);
    // the page learns of it with the next frame
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve()))');
    await open(page, '/verify');
    await textOf(page, 'main h1').toBe('Does this node tell the truth?');
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.evaluate('history.back()');
    await textOf(page, 'main h1').toBe('17339');
    // Firefox has parts of pixels
    await expect.poll(() => page.evaluate('Math.round(scrollY / 10)')).toBe(70);
    await page.close();
  });

  it('leaves a visitor where they went while an answer was on its way', async () => {
    const page = await browser.open(`${node.url}/proposal`, 'desktop');
    const held = Promise.withResolvers<void>();
    node.lie([
      {
        concerns: ({ path }) => path === '/api/core/v2/tips',
        async tell(request, next) {
          await held.promise;
          return next(request);
        },
      },
    ]);
    await click(page, 'main button', 'Propose milestone');
    await expect.poll(() => node.told().used.size).toBe(1);
    await open(page, '/verify');
    await textOf(page, 'main h1').toBe('Does this node tell the truth?');
    held.resolve();
    const read = `performance.getEntriesByType('resource')
      .filter(({ name, responseEnd }) => name.endsWith('/tips') && responseEnd > 0).length`;
    await expect.poll(() => page.evaluate(read)).toBe(1);
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
    expect(await page.evaluate('location.pathname')).toBe('/verify');
    node.lie([]);
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
