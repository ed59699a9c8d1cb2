/**
 * The explorer in Chromium and Firefox, on a phone and on a desktop, driven alike: by scripts that
 * run in the page, by the keyboard and by the mouse.
 */
import type { Browser, Page } from 'puppeteer-core';
import { launchChromium, launchFirefox } from './launch.ts';
import { CPU_SLOWDOWN, IS_SLOW } from './slow-network.ts';

export const SIZES = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 860 },
  narrow: { width: 320, height: 640 },
} as const;
export type Size = keyof typeof SIZES;

export type Scheme = 'light' | 'dark';

/** A screen, and colours of which each browser sees both. */
export const SCREENS: readonly (readonly [Size, Scheme])[] = [
  ['desktop', 'light'],
  ['phone', 'dark'],
];

type Key = 'Tab' | 'Enter' | 'ArrowRight' | 'ArrowLeft' | 'End' | 'Home';

/** What another host than the node answers. */
export interface Elsewhere {
  status: number;
  contentType: string;
  body: Buffer;
}

export interface DrivenPage {
  /** Of the window, in pixels. */
  width: number;
  /** Errors in the console, uncaught ones, and requests to other places than the node. */
  faults: string[];
  /** Runs a script in the page; resolves to what its value, or its promise, resolves to. */
  evaluate(script: string): Promise<unknown>;
  keyboard: { press(key: Key): Promise<void>; type(text: string): Promise<void> };
  /** Moves the mouse over the element with this selector. */
  hover(selector: string): Promise<void>;
  reload(): Promise<unknown>;
  /** Of what is in the window. */
  screenshot(options: { type: 'jpeg'; quality: number }): Promise<Uint8Array>;
  /** The page on paper. */
  pdf(): Promise<Uint8Array>;
  /** Answers requests by https, which reach nobody; undefined: there is never an answer. */
  answerElsewhere(answer: (url: string) => Elsewhere | undefined): Promise<void>;
  close(): Promise<void>;
}

export interface DrivenBrowser {
  open(url: string, size: Size, options?: Clock): Promise<DrivenPage>;
  close(): Promise<void>;
}

interface Clock {
  /** What waits for seconds waits for hundredths of them. */
  isQuick?: boolean;
  /** What waits for 20 seconds or more ends when the page's `passTime()` is called; no chance. */
  holdsLimits?: boolean;
}

interface Look {
  /** Default: light. */
  scheme?: Scheme;
  /** Whether things move; by default they do not, which saves time. */
  moves?: boolean;
}

/** For `isQuick`. */
const QUICK_TIMERS = `{
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (work, ms, ...rest) =>
    setTimeout(work, ms >= 1000 ? ms / 100 : ms, ...rest);
}`;

/** For `holdsLimits`. Answers that are on their way are counted, too. */
const HELD_LIMITS = `{
  globalThis.awaited = 0;
  const counted = (make) => function (...args) {
    globalThis.awaited++;
    const over = () => void globalThis.awaited--;
    const made = make.apply(this, args);
    made.then(over, over);
    return made;
  };
  globalThis.fetch = counted(globalThis.fetch);
  const reader = ReadableStreamDefaultReader.prototype;
  reader.read = counted(reader.read);
  Math.random = () => 0;
  const held = new Map();
  let last = 0;
  const { setTimeout, clearTimeout } = globalThis;
  globalThis.setTimeout = (work, ms, ...rest) => {
    if (!(ms >= 20_000)) return setTimeout(work, ms, ...rest);
    held.set(--last, () => work(...rest));
    return last;
  };
  globalThis.clearTimeout = (id) => { if (!held.delete(id)) clearTimeout(id); };
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    globalThis.setTimeout(
      () => controller.abort(new DOMException('too late', 'TimeoutError')), ms);
    return controller.signal;
  };
  globalThis.passTime = () => {
    const all = [...held.values()];
    held.clear();
    for (const work of all) work();
  };
}`;

const clockScript = ({ isQuick = false, holdsLimits = false }: Clock): string =>
  (isQuick ? QUICK_TIMERS : '') + (holdsLimits ? HELD_LIMITS : '');

/** What browsers report for each answer that is 400, 404 or 500, which is no fault of the page. */
const ERROR_ANSWER = /Failed to load resource.*(?:40[04]|500)/;

function watchFaults(url: string) {
  const faults: string[] = [];
  const { origin } = new URL(url);
  return {
    faults,
    onConsole(message: { type(): string; text(): string }) {
      if (message.type() === 'error' && !ERROR_ANSWER.test(message.text()))
        faults.push(message.text());
    },
    onError: (error: unknown) => void faults.push(String(error)),
    onRequest(request: { url(): string }) {
      // axe loads a font from a data URL, which asks nobody
      if (!request.url().startsWith('data:') && new URL(request.url()).origin !== origin)
        faults.push(`asks ${request.url()}`);
    },
  };
}

async function driveChromium({ scheme = 'light', moves = false }: Look): Promise<DrivenBrowser> {
  const browser = await launchChromium();
  const features = [
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: moves ? 'no-preference' : 'reduce' },
  ];
  return drive(browser, (page, size) =>
    Promise.all([
      page.emulateMediaFeatures(features),
      page.setViewport({ ...SIZES[size], ...(size === 'phone' && PHONE) }),
      IS_SLOW && page.emulateCPUThrottling(CPU_SLOWDOWN),
    ]),
  );
}

const PHONE = { isMobile: true, hasTouch: true };

async function driveFirefox({ scheme = 'light', moves = false }: Look): Promise<DrivenBrowser> {
  const browser = await launchFirefox({
    'layout.css.prefers-color-scheme.content-override': scheme === 'dark' ? 0 : 1,
    'ui.prefersReducedMotion': moves ? 0 : 1,
  });
  return drive(browser, (page, size) => page.setViewport(SIZES[size]));
}

/** @param prepare gives a page the size and the looks that the browser itself has not */
function drive(
  browser: Browser,
  prepare: (page: Page, size: Size) => Promise<unknown>,
): DrivenBrowser {
  return {
    async open(url, size, clock = {}) {
      const page = await browser.newPage();
      await prepare(page, size);
      const { faults, onConsole, onError, onRequest } = watchFaults(url);
      page.on('console', onConsole).on('pageerror', onError).on('request', onRequest);
      await page.evaluateOnNewDocument(clockScript(clock));
      await page.goto(url);
      return Object.assign(page, {
        width: SIZES[size].width,
        faults,
        async answerElsewhere(answer: (url: string) => Elsewhere | undefined) {
          await page.setRequestInterception(true);
          page.on('request', (request) => {
            if (!request.url().startsWith('https:')) return void request.continue();
            const found = answer(request.url());
            if (found !== undefined) void request.respond(found);
          });
        },
      });
    },
    close: () => browser.close(),
  };
}

export const DRIVERS: { name: string; launch: (look?: Look) => Promise<DrivenBrowser> }[] = [
  { name: 'Chromium', launch: (look = {}) => driveChromium(look) },
  { name: 'Firefox', launch: (look = {}) => driveFirefox(look) },
];
