/**
 * Simulated time and chance for random histories of the index. The code under test is the real one;
 * its calls take as long as the simulation says. The same seed gives the same history.
 */

/** Mulberry32: small, fast, and good enough to pick histories. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer in [from, to]. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** True in so many of a hundred cases. */
  happens(percent: number): boolean {
    return this.next() * 100 < percent;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.between(0, values.length - 1)]!;
  }
}

interface Event {
  at: number;
  happen: () => void;
}

export class Simulation {
  now: number;
  #events: Event[] = [];

  constructor(start: number) {
    this.now = start;
  }

  at(time: number, happen: () => void): void {
    // The next event stands last. Events are few and mostly near, so the search begins there.
    let i = this.#events.length;
    while (i > 0 && this.#events[i - 1]!.at <= time) i--;
    this.#events.splice(i, 0, { at: time, happen });
  }

  /** Runs all events in order, and after each one whatever the code under test does about it. */
  async run(): Promise<void> {
    for (let event = this.#events.pop(); event !== undefined; event = this.#events.pop()) {
      this.now = Math.max(this.now, event.at);
      event.happen();
      await new Promise<void>((resume) => setImmediate(resume));
    }
  }
}
