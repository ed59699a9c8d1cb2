/**
 * Workers KV: two backends, on each of which a put lands by itself, perhaps after a later one;
 * locations with copies of their own, also of a key's absence, which may be as old as the time for
 * which they are kept; one write a second to a key.
 */
import { connected } from './connections.ts';
import { currentOwner, currentUsage, isRequest, type Simulation } from './simulation.ts';

const CALL_MS = 6;
const WRITE_INTERVAL_MS = 1000;
const LATE_SHARE = 0.2;
const HANG_MS = 60_000;
const MAX_CALLS_OF_INVOCATION = 1000;
const MAX_KEY_BYTES = 512;
const MAX_VALUE_BYTES = 25 << 20;

interface Put {
  /** When it was made, and when it landed. */
  putAt: number;
  at: number;
  value: string | null;
  until: number;
  isDamaged?: boolean;
}

export interface KvOptions {
  /** How old a copy may be with the time that its put took to land, milliseconds. */
  staleMs: number;
  isDown: () => boolean;
  /** Whether nothing can be put. */
  isFull: () => boolean;
  /** How long a put may take, milliseconds. */
  slowMs: () => number;
  /** The share of reads that give nothing for long. */
  hanging: () => number;
  /** `kvReads`: of requests; `kvDamaged`: what they read; `kvOpen`: calls that have a connection. */
  counts: { kvReads: number; kvDamaged: number; kvOpen: number };
  onPut: (key: string, value: string, expirationTtl?: number) => void;
}

export class KvDouble {
  readonly #simulation: Simulation;
  readonly #options: KvOptions;
  /** When each key was written last. */
  readonly #written = new Map<string, number>();
  readonly #backends = [new Map<string, Put[]>(), new Map<string, Put[]>()] as const;

  constructor(simulation: Simulation, options: KvOptions) {
    this.#simulation = simulation;
    this.#options = options;
  }

  get(key: string, how?: { type?: string }): Promise<string | null> {
    if (isRequest(currentOwner()?.process)) this.#options.counts.kvReads++;
    return this.#call(key, () => this.#read(key, how));
  }

  put(key: string, value: string, options: { expirationTtl?: number } = {}): Promise<void> {
    this.#options.onPut(key, value, options.expirationTtl);
    return this.#call(key, () => this.#write(key, value, options));
  }

  delete(key: string): Promise<void> {
    return this.#call(key, () => this.#land(key, null, 0));
  }

  async #read(key: string, how?: { type?: string }): Promise<string | null> {
    if (how?.type !== undefined && how.type !== 'text') throw new TypeError(`KV type ${how.type}`);
    const { random } = this.#simulation;
    if (random.chance(this.#options.hanging())) await this.#simulation.sleep(HANG_MS);
    const { now } = this.#simulation;
    const copyMs = 0.75 * this.#options.staleMs;
    const moment = now - (random.chance(0.5) ? 0 : random.below(copyMs));
    const last = random
      .pick(this.#backends)
      .get(key)
      ?.findLast(({ at }) => at <= moment);
    if (last === undefined || last.until <= moment) return null;
    if (last.isDamaged && isRequest(currentOwner()?.process)) this.#options.counts.kvDamaged++;
    return last.value;
  }

  async #write(key: string, value: string, options: { expirationTtl?: number }): Promise<void> {
    const { isFull, slowMs } = this.#options;
    if (isFull()) throw new Error('KV PUT failed: 500 Internal Server Error');
    if (slowMs() > 0) await this.#simulation.arriveAfter(this.#simulation.random.below(slowMs()));
    const { now } = this.#simulation;
    const before = this.#written.get(key) ?? Number.NEGATIVE_INFINITY;
    if (now - before < WRITE_INTERVAL_MS) throw new Error('KV PUT failed: 429 Too Many Requests');
    if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
      throw new Error('KV PUT failed: 413 Value length exceeds limit of 26214400');
    this.#written.set(key, now);
    const until = now + 1000 * (options.expirationTtl ?? Number.POSITIVE_INFINITY);
    await this.#land(key, value, until);
  }

  /** It is acknowledged as soon as one backend has it. */
  async #land(key: string, value: string | null, until: number): Promise<void> {
    const simulation = this.#simulation;
    const { now, random } = simulation;
    const delays = this.#backends.map((backend) => {
      const landMs = 0.25 * this.#options.staleMs;
      const delay = random.chance(LATE_SHARE) ? random.below(landMs) : random.below(landMs / 10);
      const at = now + delay;
      simulation.atForWorld(at, () => {
        const puts = backend.get(key) ?? [];
        puts.push({ at, putAt: now, value, until });
        backend.set(key, puts);
      });
      return delay;
    });
    await simulation.sleep(Math.min(...delays));
  }

  async #call<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { isDown, counts } = this.#options;
    const usage = currentUsage();
    if (usage !== undefined && ++usage.kvCalls > MAX_CALLS_OF_INVOCATION)
      throw new Error('KV failed: Too many API requests by single worker invocation.');
    return connected(async () => {
      counts.kvOpen++;
      using _open = { [Symbol.dispose]: () => counts.kvOpen-- };
      await this.#simulation.arrival(CALL_MS);
      if (isDown()) throw new Error('KV failed: 503 Service Unavailable');
      const length = Buffer.byteLength(key);
      if (length > MAX_KEY_BYTES)
        throw new Error(
          `KV failed: 414 UTF-8 encoded length of ${length} exceeds key length limit`,
        );
      return await work();
    });
  }

  /** All that was put last, and has landed: an earlier put may land later. */
  get entries(): [key: string, value: string][] {
    const { now } = this.#simulation;
    return [...this.#backends[0]]
      .flatMap(([key, puts]): [string, string][] => {
        const last = Math.max(...puts.map(({ putAt }) => putAt));
        const { value, until } = puts.findLast(({ putAt }) => putAt === last)!;
        return value === null || until <= now ? [] : [[key, value]];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** A new, empty one takes its place. */
  clear(): void {
    for (const backend of this.#backends) backend.clear();
  }

  /** Damage: the stored value becomes another one, in every location at once. */
  damage(key: string, value: string): void {
    this.#change(key, { value, isDamaged: true });
  }

  /** A disk hides a value that never expires, and shows it again. */
  hide(key: string, isHidden: boolean): void {
    this.#change(key, { until: isHidden ? 0 : Number.POSITIVE_INFINITY });
  }

  #change(key: string, change: Partial<Put>): void {
    for (const backend of this.#backends)
      for (const put of backend.get(key) ?? []) if (put.value !== null) Object.assign(put, change);
  }
}
