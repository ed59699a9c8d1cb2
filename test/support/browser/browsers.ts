/**
 * The browsers in which tests run that are about what browsers refuse.
 */
import { launchChromium } from './chromium.ts';
import { launchFirefox } from './firefox.ts';

/** What Playwright and Puppeteer have in common. */
export interface Browser {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

export interface Page {
  goto(url: string): Promise<unknown>;
  /** Runs a script in the page; resolves to what its value, or its promise, resolves to. */
  evaluate(script: string): Promise<unknown>;
}

export const BROWSERS: { name: string; launch: () => Promise<Browser> }[] = [
  { name: 'Chromium', launch: launchChromium },
  { name: 'Firefox', launch: launchFirefox },
];
