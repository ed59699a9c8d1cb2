/**
 * Debian's Chromium, headless, driven by Playwright. CHROMIUM names another one.
 */
import { type Browser, chromium } from 'playwright-core';
import { findBrowser } from './find-browser.ts';

/** It is root who runs it in CI, and it is to reach for nothing but the page. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findBrowser('chromium', 'CHROMIUM'), args: FLAGS });
}
