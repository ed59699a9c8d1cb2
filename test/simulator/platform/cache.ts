/** The Cache API: by name, and by URL; it forgets by `max-age`, and earlier if it likes. */
import { connected } from './connections.ts';
import type { Simulation } from './simulation.ts';

const CALL_MS = 2;

export function openCaches(simulation: Simulation, isDown: () => boolean) {
  const caches = new Map<string, CacheDouble>();
  const open = (name: string): CacheDouble => {
    const cache = caches.get(name) ?? new CacheDouble(simulation, isDown);
    caches.set(name, cache);
    return cache;
  };
  return { default: open('default'), open: async (name: string) => open(name) };
}

class CacheDouble {
  readonly #simulation: Simulation;
  readonly #isDown: () => boolean;
  readonly #kept = new Map<string, { text: string; until: number }>();

  constructor(simulation: Simulation, isDown: () => boolean) {
    this.#simulation = simulation;
    this.#isDown = isDown;
  }

  async match(url: string): Promise<Response | undefined> {
    return this.#call(async () => {
      const found = this.#kept.get(url);
      if (found === undefined || found.until <= this.#simulation.now) return undefined;
      return new Response(found.text);
    });
  }

  async put(url: string, response: Response): Promise<void> {
    return this.#call(async () => {
      const control = response.headers.get('cache-control') ?? '';
      const age = /max-age=(\d+)/.exec(control)?.[1] ?? '0';
      const text = await response.text();
      this.#kept.set(url, { text, until: this.#simulation.now + 1000 * Number(age) });
    });
  }

  #call<T>(work: () => Promise<T>): Promise<T> {
    return connected(async () => {
      await this.#simulation.latency(CALL_MS);
      if (this.#isDown()) throw new Error('cache: internal error');
      return work();
    });
  }
}
