/**
 * A model of Workers KV at its worst within the assumptions of src/nft-index/timing-assumptions.ts:
 *  - A put goes to two backends and is acknowledged when the first one has it. It reaches either
 *    one after any delay. Two writers' puts may thus end up in another order than they began, in
 *    different orders on the two backends, and stay so
 *    (https://blog.cloudflare.com/rearchitecting-workers-kv-for-redundancy/).
 *  - A read returns some location's copy: what either backend held at some moment of the past, for
 *    each read and each key separately. An absence is a copy too.
 *  - A value that was put with an expiration expires at any moment from {@link MAX_COPY_AGE_MS} after
 *    the put on, or from that expiration on if it is earlier, on each backend at another moment. A
 *    backend that it reaches only after that never has it, and keeps what it had before. Values for
 *    which `mayExpire` is false stay: TOMBSTONE_TTL_S is longer than a history.
 * Copies of entries are younger than `copyAge`; copies of `recent` may be of any age.
 */
import { RECENT_KEY } from '../../../src/nft-index/recent-changes.ts';
import { MAX_COPY_AGE_MS } from '../../../src/nft-index/timing-assumptions.ts';
import type { Chance, Simulation } from './simulation.ts';

interface Landed {
  at: number;
  value: string;
  /** From then on a read returns nothing in its place. */
  expires: number;
}

/** How long after {@link MAX_COPY_AGE_MS} a value with an expiration may still be there. */
const MAX_LATE_MS = 3 * MAX_COPY_AGE_MS;

export interface KvTimes {
  /** Longest time from a put to its last landing, ms. */
  landing: number;
  /** Age of the oldest copy of an entry, ms. */
  copyAge: number;
  mayExpire: (key: string, value: string) => boolean;
}

export class ModelKv {
  /** Of the Worker that it is bound to. */
  readonly version: string;
  readonly #simulation: Simulation;
  readonly #chance: Chance;
  readonly #times: KvTimes;
  readonly #start: number;
  /** Whether the last read returned nothing because the value had expired. */
  hasExpired = false;
  readonly #backends: [Map<string, Landed[]>, Map<string, Landed[]>] = [new Map(), new Map()];

  constructor(version: string, simulation: Simulation, chance: Chance, times: KvTimes) {
    this.version = version;
    this.#simulation = simulation;
    this.#chance = chance;
    this.#times = times;
    this.#start = simulation.now;
  }

  /** @returns when it is acknowledged, Unix milliseconds */
  put(key: string, value: string, options?: { expirationTtl: number }): number {
    const landings = this.#backends.map((backend) => {
      const at = this.#simulation.now + this.#delay();
      const expires = this.#pickExpiry(options);
      this.#simulation.at(at, () => {
        if (at >= expires) return;
        const landed = backend.get(key);
        if (landed) landed.push({ at, value, expires });
        else backend.set(key, [{ at, value, expires }]);
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
    const landed = backend.get(key)?.findLast(({ at }) => at <= moment);
    this.hasExpired =
      landed !== undefined && landed.expires <= moment && this.#times.mayExpire(key, landed.value);
    return this.hasExpired ? null : (landed?.value ?? null);
  }

  #pickExpiry(options: { expirationTtl: number } | undefined): number {
    if (options === undefined) return Number.POSITIVE_INFINITY;
    const earliest = Math.min(options.expirationTtl * 1_000, MAX_COPY_AGE_MS);
    const late = this.#chance.happens(50) ? 0 : this.#chance.between(0, MAX_LATE_MS);
    return this.#simulation.now + earliest + late;
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
