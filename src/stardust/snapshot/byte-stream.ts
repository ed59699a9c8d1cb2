/**
 * Reads a snapshot file forward, piece by piece, and knows where it is.
 *
 * A file holds millions of records and does not fit into memory; a piece is a part of one record, and whoever asks for it has checked its length.
 */
import { Reader, Refusal } from '../bytes.ts';
import { type Codec, decode } from '../codec.ts';

/** A snapshot file as it lies somewhere: `chunks` of any lengths, `size` bytes together. */
export interface SnapshotFile {
  chunks: AsyncIterable<Uint8Array>;
  size: number;
}

export type SnapshotKind = 'full' | 'delta';

/** The file is truncated, damaged, of another kind, or does not hold what it has to: a sentence that says what, and where in the file. */
export class SnapshotRefusal extends Error {
  readonly file: SnapshotKind;
  /** Bytes from the start of the file. */
  readonly offset: number;

  constructor(file: SnapshotKind, offset: number, reason: string, cause?: unknown) {
    super(`${file} snapshot, offset ${offset}: ${reason}`, { cause });
    this.name = 'SnapshotRefusal';
    this.file = file;
    this.offset = offset;
  }
}

export class ByteStream {
  readonly kind: SnapshotKind;
  readonly size: number;
  /** Bytes taken so far. */
  offset = 0;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #position = 0;

  constructor(kind: SnapshotKind, file: SnapshotFile) {
    this.kind = kind;
    this.size = file.size;
    this.#chunks = file.chunks[Symbol.asyncIterator]();
  }

  /** The next `length` bytes, a copy. A {@link SnapshotRefusal} if the file ends before; `what` they are part of is for its sentence. */
  async take(length: number, what: string): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      if (this.#position === this.#chunk.length && !(await this.#next())) {
        throw this.refusal(
          `the file ends within ${what}, ${length - filled} bytes too early`,
          this.offset + filled,
        );
      }
      const piece = this.#chunk.subarray(this.#position, this.#position + length - filled);
      bytes.set(piece, filled);
      filled += piece.length;
      this.#position += piece.length;
    }
    this.offset += length;
    return bytes;
  }

  async atEnd(): Promise<boolean> {
    return this.#position === this.#chunk.length && !(await this.#next());
  }

  /** Moves to the next chunk that is not empty; false at the end of the file. */
  async #next(): Promise<boolean> {
    do {
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      this.#chunk = value;
      this.#position = 0;
    } while (this.#chunk.length === 0);
    return true;
  }

  /** Lets go of the file, wherever reading has come to. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  refusal(reason: string, offset: number, cause?: unknown): SnapshotRefusal {
    return new SnapshotRefusal(this.kind, offset, reason, cause);
  }
}

/** What `bytes`, which begin at `offset`, hold from the first to the last; a {@link SnapshotRefusal} that quotes the rule broken otherwise. */
export function decodePart<T>(
  stream: ByteStream,
  offset: number,
  what: string,
  codec: Codec<T>,
  bytes: Uint8Array,
): T {
  try {
    return decode(codec, new Reader(bytes));
  } catch (error) {
    if (error instanceof Refusal) throw stream.refusal(`${what}: ${error.message}`, offset, error);
    throw error;
  }
}
