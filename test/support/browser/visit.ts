/**
 * A visit to the explorer, with an eye on all that must not happen while it lasts.
 */
import type { Browser, Page } from 'playwright-core';

const SCREENS = {
  phone: {
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
  },
  desktop: { viewport: { width: 1280, height: 860 } },
} as const;

export type Screen = keyof typeof SCREENS;

export interface Visit {
  page: Page;
  /** Errors in the console, uncaught ones, and requests to other places than the Worker. */
  faults: string[];
  /** Opens a view by its fragment. */
  open(fragment: string): Promise<void>;
  /** How much wider than the screen the page is. */
  overhang(): Promise<number>;
  end(): Promise<void>;
}

/** What browsers report for each answer that is 400 or 404, which is no fault. */
const NOT_FOUND = /Failed to load resource.*40[04]/;

export async function visit(
  browser: Browser,
  url: string,
  screen: Screen,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Visit> {
  const context = await browser.newContext({
    ...SCREENS[screen],
    colorScheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !NOT_FOUND.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on(
    'request',
    (request) => !request.url().startsWith(`${url}/`) && faults.push(`asks ${request.url()}`),
  );
  await page.goto(`${url}/`);
  return {
    page,
    faults,
    open: (fragment) => page.evaluate(`void (location.hash = ${JSON.stringify(fragment)})`),
    // not compared with the window, which on a phone grows with what is in it
    overhang: () =>
      page.evaluate(`document.documentElement.scrollWidth - ${SCREENS[screen].viewport.width}`),
    end: () => context.close(),
  };
}
