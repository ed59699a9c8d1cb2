/**
 * How soon each kind of page of the explorer has its heading, in Chromium that has loaded nothing
 * before: from this machine, and with answers that take 100 ms longer. Needs Chromium, as
 * `npm run test:browser` does.
 */
import type { Browser } from 'puppeteer-core';
import { launchChromium } from '../../test/support/browser/launch.ts';
import { pagesOf } from '../../test/support/browser/sample-facts.ts';
import { serveSample } from '../../test/support/edge/sample.ts';
import type { BenchCase } from '../case.ts';
import { median } from '../tools/measure.ts';

/** Of a page; one before them, in which the server reads what it keeps in memory. */
const OPENED = 5;

const LATENCIES = [
  { latency: 0, most: 300 },
  { latency: 100, most: 1200 },
];

/** Notes when the first heading is painted that is not about the search itself. */
const NOTE_HEADING = `new MutationObserver((_, observer) => {
  const heading = document.querySelector('.hero, .page h1');
  if (heading === null || /^Searching/.test(heading.textContent)) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => (globalThis.headingAt = performance.now())));
}).observe(document, { childList: true, subtree: true, characterData: true })`;

/** Milliseconds from the request to the heading. */
async function timeHeading(browser: Browser, url: string, latency: number): Promise<number> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.emulateNetworkConditions({ latency, download: -1, upload: -1 });
  await page.evaluateOnNewDocument(NOTE_HEADING);
  await page.goto(url);
  const found = await page.waitForFunction('globalThis.headingAt');
  const milliseconds = Number(await found.jsonValue());
  await context.close();
  return milliseconds;
}

export const explorerCases: readonly BenchCase[] = [
  {
    name: 'explorer',
    about: `The sample with every kind of output; median of ${OPENED} first visits of a page.`,
    async run({ report }) {
      const sample = await serveSample();
      const url = await sample.startIndexed();
      const browser = await launchChromium();
      for (const { latency, most } of LATENCIES)
        for (const path of pagesOf(sample.nft)) {
          await timeHeading(browser, url + path, latency);
          const times: number[] = [];
          while (times.length < OPENED) times.push(await timeHeading(browser, url + path, latency));
          const [, kind, id] = path.split('/');
          const name = `/${kind}${id === undefined ? '' : '/…'}, heading`;
          const slow = latency > 0 ? `, ${latency} ms away` : '';
          report({ name: name + slow, value: median(times), unit: 'ms', target: { most } });
        }
      await browser.close();
      await sample.stop();
    },
  },
];
