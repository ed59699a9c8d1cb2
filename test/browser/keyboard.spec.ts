/**
 * All that the explorer can do, by keyboard alone, in Chromium and Firefox: where the focus goes,
 * that it is seen, and that it is not lost when the view changes.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  type Size,
} from '../support/browser/driven-page.ts';
import { readFocus, untilCount, untilText } from '../support/browser/use-page.ts';

const { url, nft } = inject('sample');

/** More stops than any view has on the way. */
const MAX_STOPS = 130;

/** What has the focus, once it is seen: the browser scrolls to it in a later frame. */
async function readSeenFocus(page: DrivenPage): Promise<{ label: string }> {
  await expect.poll(() => readFocus(page)).toMatchObject({ isSeen: true });
  return await readFocus(page);
}

/** Waits until the focus is there, and seen. */
async function untilFocus(page: DrivenPage, label: RegExp): Promise<void> {
  const expected = { label: expect.stringMatching(label), isSeen: true };
  await expect.poll(() => readFocus(page)).toMatchObject(expected);
}

/** The Tab key until the focus is there; wherever it comes by, it is seen. */
async function tabTo(page: DrivenPage, label: RegExp): Promise<void> {
  const met: string[] = [];
  // what comes later would move what has the focus
  await untilCount(page, '.loading', 0);
  for (let i = 0; i < MAX_STOPS; i++) {
    await page.keyboard.press('Tab');
    const focus = await readSeenFocus(page);
    if (label.test(focus.label)) return;
    met.push(focus.label);
  }
  throw new Error(`no ${label} among ${met.join(' | ')}`);
}

/** A new view has the focus at its head. */
async function untilHead(page: DrivenPage, text: RegExp): Promise<void> {
  await untilText(page, 'main h1', text);
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
}

describe.each(DRIVERS)('in $name', ({ launch }) => {
  let browser: DrivenBrowser;

  beforeAll(async () => {
    browser = await launch({ moves: true });
  });
  afterAll(() => browser?.close());

  it.each<Size>(['phone', 'desktop'])('everything can be done on a %s', async (size) => {
    const page = await browser.open(`${url}/`, size);
    const enter = () => page.keyboard.press('Enter');
    await untilText(page, '.home', /More of them/);

    await tabTo(page, /^search$/);
    await page.keyboard.type(nft.nftId);
    await enter();
    await untilHead(page, /^Soonanaut #2526$/);

    await tabTo(page, /^Show picture$/);
    await tabTo(page, /^All NFTs of this issuer$/);
    await enter();
    await untilHead(page, /^NFTs of one issuer$/);
    await untilCount(page, '.gallery li', 22);
    await tabTo(page, /^Soonanaut #\d+$/);
    await enter();
    await untilHead(page, /^Soonanaut/);

    await tabTo(page, /^milestone 17339$/);
    await enter();
    await untilHead(page, /^17339$/);
    await untilCount(page, 'svg .block[role=button]', 38);
    await tabTo(page, /^0: tagged data/);
    for (let i = 1; i <= 5; i++) await page.keyboard.press('ArrowRight');
    await untilFocus(page, /^5: transaction, applied/);
    await untilText(page, '.caption', /^5 0xd79a2feb/);
    await page.keyboard.press('End');
    await untilFocus(page, /^37: /);
    await enter();
    // a heading is no place to act, so it has no outline
    await expect.poll(async () => (await readFocus(page)).label).toMatch(/Block 37 of 38$/);
    await untilText(page, '.merkle', /root of milestone 17339 that was signed/);
    await tabTo(page, /^Let the node compute/);
    await enter();
    await untilHead(page, /^Milestone 17339$/);
    await untilText(
      page,
      'main',
      /Both roots are the ones that the keys of Shimmer signed in milestone 17339/,
    );

    await page.evaluate(`void (location.hash = '/milestones')`);
    await untilHead(page, /^17339 to 17338$/);
    await tabTo(page, /^17339$/);
    await enter();
    await untilHead(page, /^17339$/);

    await page.evaluate(`void (location.hash = '/verify')`);
    await untilHead(page, /^Does this node tell the truth/);
    await tabTo(page, /another network/);
    await page.keyboard.press('End');
    await untilCount(page, 'form.fields textarea', 1);
    await page.keyboard.press('Tab');
    await page.keyboard.type('nothing');
    await page.keyboard.press('Tab');
    await page.keyboard.type('7');
    await enter();
    await untilText(page, '#verdict', /Not checked: Key 1 is not 64 hex digits: nothing/);

    await page.evaluate(`void (location.hash = '/')`);
    await untilText(page, '.home', /More of them/);
    await page.evaluate(`void (location.hash = '/verify')`);
    await untilHead(page, /^Does this node tell the truth/);
    // the choice was kept
    await untilCount(page, 'form.fields textarea', 1);
    await tabTo(page, /another network/);
    await page.keyboard.press('Home');
    await untilCount(page, 'form.fields textarea', 0);
    await tabTo(page, /^Verify$/);
    await enter();
    await untilText(page, '#verdict', /Verified/);
    await untilFocus(page, /^Verify$/);
    await page.close();
  });
});
