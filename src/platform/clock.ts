/**
 * Time. Intervals on a clock that may be set: what happens again after an interval keeps the time at
 * which it happened last, never that at which it is due, and is compared by {@link hasPassed}. Waits
 * that end, each clearing its timer, as workerd allows 10,000 of them. And turns, which let requests
 * come between the steps of long work: workerd looks at its sockets only when no step is left, and
 * with D1 and KV in the same process (`npm run serve`) calls leave no gap.
 */

/**
 * Returns whether the interval is over, or the clock was set back by as much. So a clock that is
 * set in any direction delays nothing by more than one interval.
 *
 * @param since Unix milliseconds
 * @param now Unix milliseconds
 */
export const hasPassed = (intervalMs: number, since: number, now: number): boolean =>
  Math.abs(now - since) >= intervalMs;

/** Settles as the work does, or as `late` does after N milliseconds; the work goes on then. */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, Math.max(ms, 0));
  try {
    return await Promise.race([work, over.promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds for one call: D1 ends it after 30 s, and one machine may need minutes. */
const MAX_CALL_MS = 900_000;

/**
 * Rejects where the call does not settle: whoever waits for it would do nothing else ever again.
 *
 * @param callee who is called, for people
 */
export const untilSettled = <T>(call: Promise<T>, callee: string, ms = MAX_CALL_MS): Promise<T> =>
  within(ms, call, () => {
    throw new Error(`${callee} does not answer`);
  });

/** Runs the work with a signal that aborts after N milliseconds: a failure from then on is `late`. */
export async function withSignal<T>(
  ms: number,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // not AbortSignal.timeout: its timer outlives the work
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  try {
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? late() : error;
  } finally {
    clearTimeout(timer);
  }
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** A request waits no longer than this and one step, unless the work is less urgent. */
const TURN_EVERY_MS = 25;

/** Steps without a turn: deployed, a clock stands still until the work waits for something. */
const MAX_STEPS = 100;

/** Resolves in a later turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Makes something of each, with turns between: 100 outputs of all sizes may take 0.1 s. */
export async function mapInTurns<T, U>(
  all: readonly T[],
  make: (each: T, i: number) => U,
): Promise<U[]> {
  const turn = takeTurns();
  const made: U[] = [];
  for (const [i, each] of all.entries()) {
    made.push(make(each, i));
    await turn();
  }
  return made;
}

/**
 * Returns what is to be awaited after each step, also of several requests: each waits by a timer of
 * its own, as workerd drops those of a request that has ended.
 *
 * @param everyMs milliseconds that a request waits besides one step
 */
export function takeTurns(everyMs = TURN_EVERY_MS): () => Promise<void> {
  let [turnedAt, steps] = [Date.now(), 0];
  return async () => {
    if (++steps < MAX_STEPS && !hasPassed(everyMs, turnedAt, Date.now())) return;
    await nextTurn();
    [turnedAt, steps] = [Date.now(), 0];
  };
}
