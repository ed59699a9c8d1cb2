/**
 * A map from numbers of blocks or outputs to integers: a hash table with linear probing in two
 * typed arrays. An entry takes 12 bytes; at least half of the places are free. Strangers may choose
 * which numbers they consume, so places depend on a random seed too.
 */

/**
 * 2^32 divided by the golden ratio: a factor that spreads neighbouring numbers (Knuth, The Art of
 * Computer Programming, volume 3, 6.4).
 */
const SPREAD = 0x9e3779b1;

/** A free place: no block and no output has this number. */
const FREE = 0;

export class NumberMap {
  #keys = new Float64Array(256);
  #values = new Int32Array(256);
  #size = 0;
  readonly #seed = crypto.getRandomValues(new Int32Array(1))[0]!;

  get size(): number {
    return this.#size;
  }

  has(number: number): boolean {
    return this.#keys[this.#find(number)] !== FREE;
  }

  /** Numbers with their values, in no particular order. */
  *entries(): Generator<[number: number, value: number]> {
    for (const [at, number] of this.#keys.entries())
      if (number !== FREE) yield [number, this.#values[at]!];
  }

  /** The value of this number; undefined if none was set. */
  get(number: number): number | undefined {
    const at = this.#find(number);
    return this.#keys[at] === FREE ? undefined : this.#values[at];
  }

  /**
   * @param number 1 to 2^53 - 1
   * @param value an int32
   */
  set(number: number, value: number): void {
    const at = this.#find(number);
    this.#values[at] = value;
    if (this.#keys[at] === number) return;
    this.#keys[at] = number;
    this.#size++;
    if (2 * this.#size > this.#keys.length) this.#grow();
  }

  /** Finds the place of the number, or its free place: at least half of them are free. */
  #find(number: number): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    // of a number above 2^32 the low 32 bits count
    let at = (Math.imul(number ^ this.#seed, SPREAD) >>> 8) & mask;
    while (keys[at] !== number && keys[at] !== FREE) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = new Float64Array(2 * keys.length);
    this.#values = new Int32Array(2 * keys.length);
    this.#size = 0;
    keys.forEach((number, at) => {
      if (number !== FREE) this.set(number, values[at]!);
    });
  }
}
