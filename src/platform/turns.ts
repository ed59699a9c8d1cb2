/**
 * Lets requests come between the steps of long work. workerd looks at its sockets only when no step
 * is left, and with D1 and KV in the same process (`npm run serve`) calls leave no gap.
 */
import { hasPassed } from './clock.ts';

/** A request waits no longer than this and one step, unless the work is less urgent. */
const TURN_EVERY_MS = 25;

/** Resolves in a later turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/**
 * Returns what is to be awaited after each step, also of several requests: each waits by a timer of
 * its own, as workerd drops those of a request that has ended.
 *
 * @param everyMs milliseconds that a request waits besides one step
 */
export function takeTurns(everyMs = TURN_EVERY_MS): () => Promise<void> {
  let turnedAt = Date.now();
  return async () => {
    if (!hasPassed(everyMs, turnedAt, Date.now())) return;
    await nextTurn();
    turnedAt = Date.now();
  };
}
