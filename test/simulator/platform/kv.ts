/**
 * Workers KV: each location has copies of its own, also of a key's absence, which may be as old as
 * the time for which they are kept; a key takes one write a second.
 */
import type { Simulation } from './simulation.ts';

const CALL_MS = 6;
const WRITE_INTERVAL_MS = 1000;

interface Put {
  at: number;
  value: string | null;
  until: number;
}

export interface KvOptions {
  /** How old a copy may be, milliseconds. */
  staleMs: number;
  isDown: () => boolean;
  counts: { kvCalls: number };
}

export class KvDouble {
  readonly #simulation: Simulation;
  readonly #options: KvOptions;
  readonly #puts = new Map<string, Put[]>();

  constructor(simulation: Simulation, options: KvOptions) {
    this.#simulation = simulation;
    this.#options = options;
  }

  async get(key: string, how?: { type?: string }): Promise<string | null> {
    const { staleMs } = this.#options;
    await this.#call();
    if (how?.type !== undefined && how.type !== 'text') throw new TypeError(`KV type ${how.type}`);
    const { now, random } = this.#simulation;
    const moment = now - (random.chance(0.5) ? 0 : random.below(staleMs));
    const last = this.#puts.get(key)?.findLast(({ at }) => at <= moment);
    return last === undefined || last.until <= moment ? null : last.value;
  }

  async put(key: string, value: string, options: { expirationTtl?: number } = {}): Promise<void> {
    await this.#call();
    const { now } = this.#simulation;
    const puts = this.#puts.get(key) ?? [];
    const before = puts.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
    if (now - before < WRITE_INTERVAL_MS) throw new Error('KV PUT failed: 429 Too Many Requests');
    if (key.length > 512) throw new Error('KV PUT failed: 414 key too long');
    const until = now + 1000 * (options.expirationTtl ?? Number.POSITIVE_INFINITY);
    puts.push({ at: now, value, until });
    this.#puts.set(key, puts);
  }

  async delete(key: string): Promise<void> {
    await this.#call();
    this.#puts.set(key, [
      ...(this.#puts.get(key) ?? []),
      { at: this.#simulation.now, value: null, until: 0 },
    ]);
  }

  async #call(): Promise<void> {
    const { isDown, counts } = this.#options;
    counts.kvCalls++;
    await this.#simulation.latency(CALL_MS);
    if (isDown()) throw new Error('KV failed: 503 Service Unavailable');
  }

  /** All that is there now. */
  get entries(): [key: string, value: string][] {
    const { now } = this.#simulation;
    return [...this.#puts]
      .flatMap(([key, puts]): [string, string][] => {
        const { value = null, until = 0 } = puts.at(-1) ?? {};
        return value === null || until <= now ? [] : [[key, value]];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** A new, empty one takes its place. */
  clear(): void {
    this.#puts.clear();
  }

  /** Damage: the stored value becomes another one, in every location at once. */
  damage(key: string, value: string): void {
    const puts = this.#puts.get(key);
    if (puts === undefined || puts.length === 0) throw new Error(`KV has no ${key}`);
    for (const put of puts) put.value = put.value === null ? null : value;
  }
}
