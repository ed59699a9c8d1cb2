/**
 * The page in Chromium and Firefox, in light and dark colours, as far as both are driven alike: by
 * scripts and by the keyboard.
 */
import { launchChromium } from './chromium.ts';
import { launchFirefox } from './firefox.ts';

export const SCHEMES = ['light', 'dark'] as const;
export type Scheme = (typeof SCHEMES)[number];

export const SIZES = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 800 },
} as const;
export type Size = keyof typeof SIZES;

type Key = 'Tab' | 'Enter' | 'ArrowRight' | 'ArrowLeft' | 'End' | 'Home';

export interface DrivenPage {
  /** Runs a script in the page; resolves to what its value, or its promise, resolves to. */
  evaluate(script: string): Promise<unknown>;
  keyboard: { press(key: Key): Promise<void>; type(text: string): Promise<void> };
  close(): Promise<void>;
}

export interface DrivenBrowser {
  open(url: string, size: Size): Promise<DrivenPage>;
  close(): Promise<void>;
}

async function driveChromium(scheme: Scheme): Promise<DrivenBrowser> {
  const browser = await launchChromium();
  return {
    async open(url, size) {
      const page = await browser.newPage({ viewport: SIZES[size], colorScheme: scheme });
      await page.goto(url);
      return page;
    },
    close: () => browser.close(),
  };
}

async function driveFirefox(scheme: Scheme): Promise<DrivenBrowser> {
  const browser = await launchFirefox({
    'layout.css.prefers-color-scheme.content-override': scheme === 'dark' ? 0 : 1,
  });
  return {
    async open(url, size) {
      const page = await browser.newPage();
      await page.setViewport(SIZES[size]);
      await page.goto(url);
      return page;
    },
    close: () => browser.close(),
  };
}

export const DRIVERS: { name: string; launch: (scheme: Scheme) => Promise<DrivenBrowser> }[] = [
  { name: 'Chromium', launch: driveChromium },
  { name: 'Firefox', launch: driveFirefox },
];
