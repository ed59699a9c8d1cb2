/**
 * Where the records of a ledger are in snapshot files, in order of their output IDs. It is a sink
 * of the snapshot reader that keeps 42 bytes for each change in memory: the ID and the place.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { Reader, toHex } from '../../src/stardust/encoding/bytes.ts';
import {
  decodeLedgerOutput,
  LEDGER_OUTPUT_HEAD_LENGTH,
  type LedgerOutput,
  ledgerOutputHead,
} from '../../src/stardust/final.ts';
import type { LedgerChange, LedgerSink, SnapshotKind } from '../../src/stardust/snapshot.ts';

const ID_BYTES = 34;

/** Changes whose IDs are in one buffer. */
const PAGE_BITS = 18;
const PAGE = 1 << PAGE_BITS;

/** The place of an output that was removed. */
const REMOVED = -1;

const FILES: readonly SnapshotKind[] = ['full', 'delta'];

export class RecordIndex implements LedgerSink {
  readonly #ids: Buffer[] = [];
  /** Twice the offset, and 1 in the delta. */
  readonly #places: Float64Array[] = [];
  #count = 0;
  #isSorted = true;

  async begin(): Promise<number> {
    return 0;
  }

  async apply({ add, remove }: LedgerChange): Promise<void> {
    for (const { outputId, file, offset } of add)
      this.#note(outputId, 2 * offset + FILES.indexOf(file));
    for (const outputId of remove) this.#note(outputId, REMOVED);
  }

  #note(outputId: Uint8Array, place: number): void {
    const [page, at] = [this.#count >> PAGE_BITS, this.#count % PAGE];
    if (at === 0) {
      this.#ids.push(Buffer.alloc(PAGE * ID_BYTES));
      this.#places.push(new Float64Array(PAGE));
    }
    this.#ids[page]!.set(outputId, at * ID_BYTES);
    this.#places[page]![at] = place;
    this.#count++;
    if (this.#count > 1 && this.#compare(this.#count - 2, this.#count - 1) >= 0)
      this.#isSorted = false;
  }

  /** By ID. */
  #compare(a: number, b: number): number {
    const [left, right] = [this.#ids[a >> PAGE_BITS]!, this.#ids[b >> PAGE_BITS]!];
    const [atLeft, atRight] = [(a % PAGE) * ID_BYTES, (b % PAGE) * ID_BYTES];
    // the first six bytes decide, as a rule
    return (
      left.readUIntBE(atLeft, 6) - right.readUIntBE(atRight, 6) ||
      left.compare(right, atRight, atRight + ID_BYTES, atLeft, atLeft + ID_BYTES)
    );
  }

  /**
   * The outputs that are left, in order of their IDs. Throws an Error if an output was added twice,
   * or removed and not there.
   *
   * @param paths of the files
   */
  *read(
    paths: Readonly<Partial<Record<SnapshotKind, string | undefined>>>,
  ): Generator<LedgerOutput, void> {
    const order = Uint32Array.from({ length: this.#count }, (_, i) => i);
    if (!this.#isSorted) order.sort((a, b) => this.#compare(a, b) || a - b);
    const files = FILES.map((kind) => paths[kind])
      .flatMap((path) => path ?? [])
      .map(open);
    try {
      let place = REMOVED;
      for (const [i, change] of order.entries()) {
        const before = place;
        place = this.#places[change >> PAGE_BITS]![change % PAGE]!;
        if ((place === REMOVED) === (before === REMOVED))
          throw new Error(
            `output ${toHex(this.#idOf(change))} is added twice, or removed and not there`,
          );
        const next = order[i + 1];
        if (next !== undefined && this.#compare(change, next) === 0) continue;
        if (place !== REMOVED)
          yield files[place % 2]!.read(Math.floor(place / 2), this.#idOf(change));
        place = REMOVED;
      }
    } finally {
      for (const file of files) file.close();
    }
  }

  #idOf(change: number): Buffer {
    const at = (change % PAGE) * ID_BYTES;
    return this.#ids[change >> PAGE_BITS]!.subarray(at, at + ID_BYTES);
  }
}

/**
 * Bytes read at once: many where one record follows the other, as HORNET writes them, and about one
 * record where they are not in order.
 */
const AHEAD_BYTES = 1 << 18;
const ALONE_BYTES = 1 << 10;

function open(path: string) {
  const descriptor = openSync(path, 'r');
  let window = Buffer.alloc(0);
  let start = 0;
  /** Bytes of the file; a view that the next call may overwrite. */
  const view = (offset: number, length: number): Buffer => {
    const end = start + window.length;
    if (offset < start || offset + length > end) {
      const isAhead = offset >= start && offset <= end;
      const next = Buffer.allocUnsafe(Math.max(isAhead ? AHEAD_BYTES : ALONE_BYTES, length));
      window = next.subarray(0, readSync(descriptor, next, 0, next.length, offset));
      start = offset;
      if (length > window.length) throw new Error(`${path}: changed while it was read`);
    }
    return window.subarray(offset - start, offset - start + length);
  };
  return {
    /** The output with the ID, whose record is at the offset (docs/snapshot-format.md#output-record). */
    read(offset: number, id: Buffer): LedgerOutput {
      const head = view(offset, LEDGER_OUTPUT_HEAD_LENGTH);
      const { length, outputId } = ledgerOutputHead.decode(new Reader(head));
      if (!id.equals(outputId)) throw new Error(`${path}: changed while it was read`);
      return decodeLedgerOutput(Uint8Array.from(view(offset, LEDGER_OUTPUT_HEAD_LENGTH + length)));
    },
    close: () => closeSync(descriptor),
  };
}
