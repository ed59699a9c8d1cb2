/**
 * Intervals on a clock that may be set.
 *
 * What is to happen again after an interval keeps the time at which it happened last, never the
 * time at which it is due, and is compared by this one function.
 */

/**
 * Whether the interval is over, or the clock was set back by as much: then waiting for the old time
 * to come again would take as long as the clock was ahead. A clock that is set, in whichever
 * direction and by whatever time, delays nothing by more than one interval.
 *
 * @param since Unix milliseconds
 * @param now Unix milliseconds
 */
export function hasPassed(intervalMs: number, since: number, now: number): boolean {
  return Math.abs(now - since) >= intervalMs;
}
