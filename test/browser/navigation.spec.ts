/**
 * Ways through the explorer: back to where one was, to the search by one key, past the masthead, and
 * on from a view whose script does not come.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { DRIVERS, type DrivenBrowser, type DrivenPage } from '../support/browser/driven-page.ts';
import { countOf, open, readFocus, textOf, untilCount } from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, startLyingNode } from '../support/lies/lying-node.ts';

const { url } = inject('sample');

describe.each(DRIVERS)('in $name', ({ launch }) => {
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

  it('goes back to where one was on the page', async () => {
    await open(page, '/milestone/17339');
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
  });

  it('has a button where the script of a view does not come', async () => {
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
  });
});
