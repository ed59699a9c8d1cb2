/**
 * A cache that only saves time: where it fails or hangs, the request goes on without it.
 *
 * After the first failure the isolate goes without the cache, so that one that always fails costs
 * one line of log and one wait, and not one for each request.
 */
import { describeError, writeLog } from './log.ts';

/** What is cached takes longer to read elsewhere: 10 to 50 ms. A coordinator waits for 2 s. */
const MAX_WAIT_MS = 250;

export interface OptionalCache {
  readonly hasFailed: boolean;
  /** Returns what the call returns; undefined where it rejects or takes too long. */
  attempt<T>(call: () => Promise<T>): Promise<T | undefined>;
}

/** @param event the line of log of the first failure */
export function createOptionalCache(event: string): OptionalCache {
  let hasFailed = false;
  return {
    get hasFailed() {
      return hasFailed;
    },
    async attempt(call) {
      if (hasFailed) return undefined;
      let timer: ReturnType<typeof setTimeout> | null = null;
      const late = new Promise<never>((_, reject) => {
        const error = new Error(`no answer within ${MAX_WAIT_MS} ms`);
        timer = setTimeout(() => reject(error), MAX_WAIT_MS);
      });
      try {
        return await Promise.race([call(), late]);
      } catch (error) {
        if (!hasFailed) writeLog('warn', event, { error: describeError(error) });
        hasFailed = true;
        return undefined;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
