/**
 * A model of Workers KV at its worst within the assumptions of src/nft-index/timing-assumptions.ts:
 *  - A put goes to two backends and is acknowledged when the first one has it. It reaches either
 *    one after any delay. Two writers' puts may thus end up in another order than they began, in
 *    different orders on the two backends, and stay so
 *    (https://blog.cloudflare.com/rearchitecting-workers-kv-for-redundancy/).
 *  - A read returns some location's copy: what either backend held at some moment of the past, for
 *    each read and each key separately. An absence is a copy too.
 * Copies of entries are younger than `copyAge`; copies of `recent` may be of any age.
 */
import { RECENT_KEY } from '../../../src/nft-index/recent-changes.ts';
import type { Chance, Simulation } from './simulation.ts';

interface Landed {
  at: number;
  value: string;
}

export interface KvTimes {
  /** Longest time from a put to its last landing, ms. */
  landing: number;
  /** Age of the oldest copy of an entry, ms. */
  copyAge: number;
}

export class ModelKv {
  readonly #simulation: Simulation;
  readonly #chance: Chance;
  readonly #times: KvTimes;
  readonly #start: number;
  readonly #backends: [Map<string, Landed[]>, Map<string, Landed[]>] = [new Map(), new Map()];

  constructor(simulation: Simulation, chance: Chance, times: KvTimes) {
    this.#simulation = simulation;
    this.#chance = chance;
    this.#times = times;
    this.#start = simulation.now;
  }

  /** @returns when it is acknowledged, Unix milliseconds */
  put(key: string, value: string): number {
    const landings = this.#backends.map((backend) => {
      const at = this.#simulation.now + this.#delay();
      this.#simulation.at(at, () => {
        const landed = backend.get(key);
        if (landed) landed.push({ at, value });
        else backend.set(key, [{ at, value }]);
      });
      return at;
    });
    return Math.min(...landings);
  }

  read(key: string): string | null {
    const { now } = this.#simulation;
    const oldest =
      key === RECENT_KEY ? this.#start : Math.max(this.#start, now - this.#times.copyAge);
    const moment = Math.max(oldest, now - this.#pickAge(now - oldest));
    const backend = this.#chance.pick(this.#backends);
    return backend.get(key)?.findLast(({ at }) => at <= moment)?.value ?? null;
  }

  #pickAge(oldest: number): number {
    const chance = this.#chance;
    if (chance.happens(40)) return 0;
    if (chance.happens(40)) return chance.between(0, 120_000);
    return chance.happens(50) ? oldest : chance.between(0, oldest);
  }

  #delay(): number {
    return this.#chance.between(
      1,
      this.#chance.happens(80) ? Math.min(1_000, this.#times.landing) : this.#times.landing,
    );
  }
}
