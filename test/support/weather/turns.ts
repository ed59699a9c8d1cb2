/**
 * Tasks at once, in an order that the seed gives: whatever a task asks of a database or an upstream
 * waits for its turn, and one at a time of those that wait goes on, once no other task can do
 * anything. So work of others comes between any two batches of a task, and a run can be repeated.
 *
 * Short timers belong to it too: one is due when nobody waits for a turn any more.
 */
import type { Random } from '../network/random.ts';

interface Timer {
  ms: number;
  work: () => void;
}

export class Turns {
  #random: Random;
  #waiting: (() => void)[] = [];
  #timers: Timer[] = [];
  #isGoing = false;

  constructor(random: Random) {
    this.#random = random;
  }

  /** From now on the order is this one's. */
  follow(random: Random): void {
    this.#random = random;
  }

  get isContended(): boolean {
    return this.#waiting.length > 0;
  }

  take(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#goOn();
    });
  }

  later(ms: number, work: () => void): Timer {
    const timer = { ms, work };
    this.#timers.push(timer);
    this.#goOn();
    return timer;
  }

  /** Whether there was such a timer. */
  cancel(timer: unknown): boolean {
    const at = this.#timers.indexOf(timer as Timer);
    if (at >= 0) this.#timers.splice(at, 1);
    return at >= 0;
  }

  #goOn(): void {
    if (!this.#isGoing) setImmediate(this.#next);
    this.#isGoing = true;
  }

  readonly #next = (): void => {
    const waiting = this.#waiting;
    if (waiting.length > 0) {
      const at = waiting.length === 1 ? 0 : this.#random.below(waiting.length);
      waiting.splice(at, 1)[0]!();
    } else {
      // it may have been cancelled
      const [first] = this.#timers.toSorted((a, b) => a.ms - b.ms);
      this.cancel(first);
      first?.work();
    }
    this.#isGoing = false;
    if (waiting.length + this.#timers.length > 0) this.#goOn();
  };
}
