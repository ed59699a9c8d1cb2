/**
 * Finds a workerd that hangs: miniflare restarts one that dies, and waits for one that does not.
 */
import { requestHealth } from '../lib/process/notify-systemd.ts';

/** Between two requests, and for each answer. */
const CHECK_EVERY_MS = 30_000;

/** In a row: a milestone of 100,000 transactions may take D1 minutes on a slow machine. */
const MAX_FAILURES = 10;

/**
 * Requests /health of workerd at once and then regularly. Any answer will do, also 503: a large
 * import or milestone makes the node unhealthy, not silent.
 *
 * @param onHang called after ten requests without an answer. Failures before the first answer do
 * not count, as a start may take long
 * @returns ends it
 */
export function watchHealth(
  url: string,
  onHang: () => void,
  request: (url: string, withinMs: number) => Promise<void> = requestHealth,
): () => void {
  let failures = Number.NEGATIVE_INFINITY;
  const check = () =>
    request(url, CHECK_EVERY_MS).then(
      () => {
        failures = 0;
      },
      () => {
        failures++;
        if (failures === MAX_FAILURES) onHang();
      },
    );
  void check();
  const timer = setInterval(() => void check(), CHECK_EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    onHang = () => {};
  };
}
