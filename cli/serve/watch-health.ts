/**
 * Finds a workerd that hangs: miniflare restarts one that dies, and waits for one that does not.
 */
import { requestHealth } from '../lib/process/notify-systemd.ts';

/** Between two requests, and for each answer. */
const CHECK_EVERY_MS = 30_000;

/** In a row: a milestone of 100,000 transactions may take D1 minutes on a slow machine. */
const MAX_FAILURES = 10;

/** Before the first answer: half an hour, as a start may take long. */
const MAX_FAILURES_AT_START = 60;

/**
 * Requests /health of workerd at once and then regularly. Any answer will do, also 503: a large
 * import or milestone makes the node unhealthy, not silent.
 *
 * @param onHang called after ten requests without an answer, or sixty where it never gave one
 * @returns ends it
 */
export function watchHealth(
  url: string,
  onHang: () => void,
  request: (url: string, withinMs: number) => Promise<void> = requestHealth,
): () => void {
  let left = MAX_FAILURES_AT_START;
  const check = () =>
    request(url, CHECK_EVERY_MS).then(
      () => {
        left = MAX_FAILURES;
      },
      () => {
        left--;
        if (left === 0) onHang();
      },
    );
  void check();
  const timer = setInterval(() => void check(), CHECK_EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    onHang = () => {};
  };
}
