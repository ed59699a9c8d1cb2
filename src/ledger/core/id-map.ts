/**
 * A map from IDs to one number or two, in typed arrays: some 60 bytes an entry, where a Map of hex
 * strings takes 200. It keeps the order of additions, so an ID has an index too. IDs are hashes
 * that anybody can grind, so places in the table depend on a random seed too.
 */

/** An empty place: places hold indexes from 1 on. */
const FREE = 0;

/** Growth of full arrays: of 300,000 IDs, doubling would leave 9 MB unused. */
const GROWTH = 1.25;

/** Entries for which there is room at first, and places. */
const FIRST_ROOM = 16;
const FIRST_PLACES = 4096;

export class IdMap {
  readonly #idBytes: number;
  readonly #width: 1 | 2;
  readonly #seed = crypto.getRandomValues(new Uint32Array(2));
  readonly #decoded: Uint8Array;
  #ids: Uint8Array<ArrayBuffer>;
  #numbers: Float64Array<ArrayBuffer>;
  #places: Int32Array;
  #size = 0;

  /**
   * @param idBytes length of each ID: 32 of blocks, 34 of outputs
   * @param width numbers of each entry
   */
  constructor(idBytes: number, width: 1 | 2 = 1) {
    this.#idBytes = idBytes;
    this.#width = width;
    this.#decoded = new Uint8Array(idBytes);
    this.#ids = new Uint8Array(FIRST_ROOM * idBytes);
    this.#numbers = new Float64Array(FIRST_ROOM * width);
    this.#places = new Int32Array(FIRST_PLACES);
  }

  get size(): number {
    return this.#size;
  }

  /** The number of an ID, given as lower-case hex digits; undefined if it is not there. */
  get(id: string): number | undefined {
    const index = this.indexOf(id);
    return index < 0 ? undefined : this.#numbers[index * this.#width];
  }

  getSecond(id: string): number | undefined {
    const index = this.indexOf(id);
    return index < 0 ? undefined : this.#numbers[index * this.#width + 1];
  }

  has(id: string): boolean {
    return this.indexOf(id) >= 0;
  }

  /** How many IDs were added before this one, or -1 if it is not there. */
  indexOf(id: string): number {
    return this.#size === 0 ? -1 : this.#places[this.#find(this.#decode(id))]! - 1;
  }

  /** Sets the number of an ID, and the second one if it is given; returns its index. */
  set(id: string, number: number, second?: number): number {
    const index = this.#add(this.#decode(id));
    this.#numbers[index * this.#width] = number;
    if (second !== undefined) this.#numbers[index * this.#width + 1] = second;
    return index;
  }

  /** The index of the ID, which is added if it is not there. */
  #add(bytes: Uint8Array): number {
    const place = this.#find(bytes);
    let index = this.#places[place]! - 1;
    if (index < 0) {
      index = this.#size;
      this.#append(bytes);
      this.#places[place] = index + 1;
      if (2 * this.#size > this.#places.length) this.#place(2 * this.#places.length);
    }
    return index;
  }

  /** The ID that was added so many IDs after the first one, as hex digits. */
  idAt(index: number): string {
    return this.bytesAt(index).toHex();
  }

  /** Returns the ID as bytes, which are not a copy. */
  bytesAt(index: number): Uint8Array {
    return this.#ids.subarray(index * this.#idBytes, (index + 1) * this.#idBytes);
  }

  numberAt(index: number): number {
    return this.#numbers[index * this.#width]!;
  }

  /**
   * Drops the entries whose number is not to be kept, in place: a copy would take as much heap.
   *
   * @param secondOf new second number of a first one; absent: unchanged
   */
  retain(keep: (number: number) => boolean, secondOf?: (number: number) => number): void {
    const [idBytes, width] = [this.#idBytes, this.#width];
    let kept = 0;
    for (let index = 0; index < this.#size; index++) {
      const number = this.numberAt(index);
      if (!keep(number)) continue;
      this.#ids.copyWithin(kept * idBytes, index * idBytes, (index + 1) * idBytes);
      this.#numbers.copyWithin(kept * width, index * width, (index + 1) * width);
      if (secondOf) this.#numbers[kept * width + 1] = secondOf(number);
      kept++;
    }
    // IDs to come have no second number but their own
    this.#numbers.fill(0, kept * width, this.#size * width);
    this.#size = kept;
    const room = Math.max(kept, FIRST_ROOM);
    if (2 * room * width < this.#numbers.length) this.#makeRoom(room);
    this.#place(Math.max(FIRST_PLACES, 2 ** Math.ceil(Math.log2(2 * kept + 2))));
  }

  /** Decodes into a shared buffer: there are thousands of calls a second. */
  #decode(id: string): Uint8Array {
    const { read, written } = this.#decoded.setFromHex(id);
    if (read !== id.length || written !== this.#idBytes)
      throw new Error(`an ID of ${id.length} digits, not of ${2 * this.#idBytes}`);
    return this.#decoded;
  }

  #append(bytes: Uint8Array): void {
    if (this.#size * this.#width === this.#numbers.length)
      this.#makeRoom(Math.ceil(GROWTH * this.#size));
    this.#ids.set(bytes, this.#size++ * this.#idBytes);
  }

  /** Makes one array after the other: the former of each is freed before. */
  #makeRoom(entries: number): void {
    this.#ids = new Uint8Array(this.#ids.buffer.transfer(entries * this.#idBytes));
    this.#numbers = new Float64Array(this.#numbers.buffer.transfer(entries * this.#width * 8));
  }

  /** The place of the ID, or the free place where it belongs. */
  #find(bytes: Uint8Array): number {
    const mask = this.#places.length - 1;
    let place = this.#hash(bytes, 0) & mask;
    for (; this.#places[place] !== FREE; place = (place + 1) & mask)
      if (this.#isAt(this.#places[place]! - 1, bytes)) break;
    return place;
  }

  /**
   * Hashes the first eight bytes, and the last four: outputs of one transaction differ in those.
   */
  #hash(bytes: Uint8Array, start: number): number {
    const first = wordAt(bytes, start) ^ this.#seed[0]!;
    const second = wordAt(bytes, start + 4) ^ this.#seed[1]!;
    const last = wordAt(bytes, start + this.#idBytes - 4);
    let hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15) ^ last, 0xc2b2ae35);
    return hash ^ (hash >>> 16);
  }

  #isAt(index: number, bytes: Uint8Array): boolean {
    const start = index * this.#idBytes;
    for (let i = 0; i < this.#idBytes; i++) if (this.#ids[start + i] !== bytes[i]) return false;
    return true;
  }

  /** Notes the places of all IDs in a table of this length, a power of two, half of it free. */
  #place(length: number): void {
    const places = new Int32Array(length);
    const mask = places.length - 1;
    for (let index = 0; index < this.#size; index++) {
      let place = this.#hash(this.#ids, index * this.#idBytes) & mask;
      while (places[place] !== FREE) place = (place + 1) & mask;
      places[place] = index + 1;
    }
    this.#places = places;
  }
}

const wordAt = (bytes: Uint8Array, at: number): number =>
  bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
