/**
 * All that the page can do, by keyboard alone, in Chromium and Firefox: where the focus goes, that
 * it is seen, that it is not lost, and that what comes of it is announced.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  type Size,
} from '../support/browser/driven-page.ts';
import { SAMPLE_ISSUER, SAMPLE_KEYS } from '../support/browser/sample-facts.ts';
import {
  focusOf,
  isFocusSeen,
  noteAnnouncements,
  untilAnnounced,
  untilText,
} from '../support/browser/use-page.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';

let worker: SampleWorker;

beforeAll(async () => {
  worker = await serveSample();
}, 180_000);
afterAll(() => worker?.stop());

/** The Tab key, as often as it takes: whether the elements on the way are these, and all seen. */
async function tabAlong(page: DrivenPage, way: readonly string[]): Promise<void> {
  const met: string[] = [];
  for (const _ of way) {
    await page.keyboard.press('Tab');
    met.push(await focusOf(page));
    expect(await isFocusSeen(page), met.at(-1)!).toBe(true);
  }
  expect(met).toEqual(way);
}

/** Links that the way leads over, and of which each has a text of its own. */
async function tabOverLinks(page: DrivenPage, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await page.keyboard.press('Tab');
    expect(await focusOf(page)).toMatch(/^0x[0-9a-f]{8}…/);
    expect(await isFocusSeen(page)).toBe(true);
  }
}

describe.each(DRIVERS)('in $name', ({ launch }) => {
  let browser: DrivenBrowser;

  beforeAll(async () => {
    browser = await launch('light');
  }, 120_000);
  afterAll(() => browser?.close());

  it.each<Size>(['phone', 'desktop'])('everything can be done on a %s', async (size) => {
    const page = await browser.open(`${worker.url}/`, size);
    const { press, type } = {
      press: (key: 'Enter') => page.keyboard.press(key),
      type: (text: string) => page.keyboard.type(text),
    };
    await untilText(page, 'ledger', /17339/);
    await noteAnnouncements(page);

    await tabAlong(page, ['API description', 'Node info', 'nft-id']);
    await type(worker.nft.nftId);
    await press('Enter');
    await untilAnnounced(page, 'nft-answer', /^HTTP 200 · at ledger index 17339\n/);
    expect(await focusOf(page)).toBe('nft-id');
    await untilText(page, 'nft-facts', /Soonanaut/);

    await tabAlong(page, ['Look up', 'Read the output', 'list-by']);
    await type('i');
    await tabAlong(page, ['list-address']);
    await type(SAMPLE_ISSUER);
    await press('Enter');
    await untilAnnounced(page, 'list-answer', /^1 to 10 at/);
    await tabAlong(page, ['List']);
    await tabOverLinks(page, 10);
    await tabAlong(page, ['Next page']);
    await press('Enter');
    await untilAnnounced(page, 'list-answer', /^11 to 20 at/);
    expect(await focusOf(page)).toBe('Next page');
    await press('Enter');
    await untilAnnounced(page, 'list-answer', /^21 to 22 at/);
    // the button is gone, as there is no next page
    await expect.poll(() => focusOf(page)).toBe('list-answer');
    await tabOverLinks(page, 2);

    await tabAlong(page, ['fill-index', 'Fill in']);
    await press('Enter');
    const request = 'document.getElementById("flag-body").value';
    await expect.poll(() => page.evaluate(request)).toContain('"index": 17339');
    expect(await focusOf(page)).toBe('Fill in');
    await tabAlong(page, ['flag-body', 'Compute']);
    await press('Enter');
    await untilAnnounced(page, 'flag-answer', /^HTTP 200 · at ledger index 17338\n/);
    await untilAnnounced(page, 'flag-verdict', /^Both roots are the ones/);
    expect(await focusOf(page)).toBe('Compute');

    await tabAlong(page, ['explain-index']);
    await press('Enter');
    await untilAnnounced(page, 'explain-answer', /Blocks: 38\./);
    await tabAlong(page, ['Explain']);
    await tabOverLinks(page, 38);

    await tabAlong(page, ['verify-keys']);
    await type(SAMPLE_KEYS.join(' '));
    await tabAlong(page, ['verify-threshold']);
    await type('7');
    await tabAlong(page, ['Verify']);
    await press('Enter');
    await untilAnnounced(page, 'verify-checks', /signed by 10 of the keys.*signed roots\.$/);
    await untilAnnounced(page, 'verify-verdict', /^Verified/);
    expect(await focusOf(page)).toBe('Verify');
    await page.close();
  });
});
