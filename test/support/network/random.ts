/**
 * Random numbers that depend on the seed alone, not on the machine: sfc32
 * (https://pracrand.sourceforge.net), seeded by a hash of text.
 */
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';

export class Random {
  readonly #state: Uint32Array;

  constructor(seed: string) {
    this.#state = new Uint32Array(blake2b256(new TextEncoder().encode(seed)).slice(0, 16).buffer);
    for (let i = 0; i < 12; i++) this.u32();
  }

  u32(): number {
    const state = this.#state;
    const [a, b, c, counter] = state as unknown as [number, number, number, number];
    const result = (a + b + counter) >>> 0;
    state[3] = counter + 1;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + result;
    return result;
  }

  /** 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor((this.u32() / 2 ** 32) * limit);
  }

  /** `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.u32() < probability * 2 ** 32;
  }

  pick<T>(values: readonly T[]): T {
    if (values.length === 0) throw new RangeError('nothing to pick from');
    return values[this.below(values.length)]!;
  }

  /** One of these, those with more weight more often. */
  pickWeighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let place = this.below(choices.reduce((sum, [weight]) => sum + weight, 0));
    return choices.find(([weight]) => {
      place -= weight;
      return place < 0;
    })![1];
  }

  /** Up to `count` different elements, in random order. */
  sample<T>(values: readonly T[], count: number): T[] {
    const rest = [...values];
    const taken: T[] = [];
    while (taken.length < count && rest.length > 0)
      taken.push(...rest.splice(this.below(rest.length), 1));
    return taken;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.u32() & 0xff);
  }
}
