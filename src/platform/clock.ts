/**
 * Intervals on a clock that may be set. What happens again after an interval keeps the time at
 * which it happened last, never that at which it is due, and is compared by this one function.
 */

/**
 * Returns whether the interval is over, or the clock was set back by as much. So a clock that is
 * set in any direction delays nothing by more than one interval.
 *
 * @param since Unix milliseconds
 * @param now Unix milliseconds
 */
export function hasPassed(intervalMs: number, since: number, now: number): boolean {
  return Math.abs(now - since) >= intervalMs;
}
