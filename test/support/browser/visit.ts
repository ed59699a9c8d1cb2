/**
 * A visit to the page, with an eye on all that must not happen while it lasts.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

const SCREENS = {
  phone: {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  },
  desktop: { viewport: { width: 1280, height: 900 } },
} as const;

export type Screen = keyof typeof SCREENS;

export interface Visit {
  page: Page;
  /** Errors in the console, uncaught ones, and requests to other places than the Worker. */
  faults: string[];
  /** How much wider than the screen the page is. */
  overhang(): Promise<number>;
  end(): Promise<void>;
}

export async function visit(
  browser: Browser,
  url: string,
  screen: Screen,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Visit> {
  const context = await browser.newContext({ ...SCREENS[screen], colorScheme });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on(
    'request',
    (request) => !request.url().startsWith(`${url}/`) && faults.push(`asks ${request.url()}`),
  );
  await page.goto(`${url}/`);
  return {
    page,
    faults,
    // not compared with the window, which on a phone grows with what is in it
    overhang: () =>
      page.evaluate(`document.documentElement.scrollWidth - ${SCREENS[screen].viewport.width}`),
    end: () => context.close(),
  };
}

/** Keeps a picture of the whole page where SCREENSHOTS names a folder, for people to look at. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/**
 * The text on the page with less contrast than WCAG 2 asks for (1.4.3, AA: 4.5), each with what it
 * has. In the page's own language, as it runs there.
 */
export function faintTexts(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const rgb = (color) => { paint.clearRect(0, 0, 1, 1); paint.fillStyle = color; paint.fillRect(0, 0, 1, 1); return [...paint.getImageData(0, 0, 1, 1).data]; };
    const linear = (channel) => channel <= 0.03928 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
    const luminance = ([r, g, b]) => [0.2126 * linear(r / 255), 0.7152 * linear(g / 255), 0.0722 * linear(b / 255)].reduce((a, b) => a + b);
    const background = (element) => {
      for (let e = element; e; e = e.parentElement) { const color = rgb(getComputedStyle(e).backgroundColor); if (color[3] === 255) return color; }
      return [255, 255, 255];
    };
    const own = (element) => [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join('') || element.value || '';
    return [...document.body.querySelectorAll('*')].filter((element) => own(element) && element.checkVisibility()).flatMap((element) => {
      const [light, dark] = [luminance(rgb(getComputedStyle(element).color)), luminance(background(element))].sort((a, b) => b - a);
      const contrast = (light + 0.05) / (dark + 0.05);
      return contrast < 4.5 ? [contrast.toFixed(1) + ' ' + own(element).slice(0, 40)] : [];
    });
  })()`);
}
