/**
 * Texts in the data centre's cache (Cache API). It only saves time: if it fails or hangs, the
 * request goes on without it, and so does the isolate from then on: one wait, one line of log.
 */
import { within } from './clock.ts';
import { describeError, writeLog } from './log.ts';

/** Reading elsewhere takes 10 to 50 ms; a coordinator waits for 2 s. */
const MAX_WAIT_MS = 250;

/** Neither call rejects. */
export interface DataCentreCache {
  readonly hasFailed: boolean;
  /** The text that was put under this URL; undefined where none is kept. */
  match(url: string): Promise<string | undefined>;
  put(url: string, text: string): Promise<void>;
}

export interface DataCentreCacheOptions {
  open: () => Cache | Promise<Cache>;
  maxAgeSeconds: number;
  /** The line of log of the first failure. */
  failureEvent: string;
}

export function createDataCentreCache({
  open,
  maxAgeSeconds,
  failureEvent,
}: DataCentreCacheOptions): DataCentreCache {
  let hasFailed = false;

  /** Returns what the call returns; undefined where it rejects or takes too long. */
  async function attempt<T>(call: (cache: Cache) => Promise<T>): Promise<T | undefined> {
    if (hasFailed) return undefined;
    const called = (async () => call(await open()))();
    try {
      return await within(MAX_WAIT_MS, called, () => {
        throw new Error(`no answer within ${MAX_WAIT_MS} ms`);
      });
    } catch (error) {
      if (!hasFailed) writeLog('warn', failureEvent, { error: describeError(error) });
      hasFailed = true;
      return undefined;
    }
  }

  return {
    get hasFailed() {
      return hasFailed;
    },
    match: (url) => attempt(async (cache) => (await cache.match(url))?.text()),
    async put(url, text) {
      const headers = { 'cache-control': `public, max-age=${maxAgeSeconds}` };
      await attempt((cache) => cache.put(url, new Response(text, { headers })));
    },
  };
}
