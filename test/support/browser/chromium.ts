/**
 * Debian's Chromium, headless, driven by Playwright. CHROMIUM names another one.
 */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';

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
  if (!existsSync(EXECUTABLE)) {
    throw new Error(
      `there is no ${EXECUTABLE}: apt-get install chromium, or name one with CHROMIUM=/path/to/chromium`,
    );
  }
  return chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
}
