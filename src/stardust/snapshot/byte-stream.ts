/**
 * Reads a snapshot file forward, part by part, and knows its position. A file does not fit into
 * memory. A part is at most one record long: callers check the length before they take it.
 */
import { type Codec, decode } from '../encoding/codec.ts';
import { StardustError } from '../error.ts';

/** A snapshot file wherever it is stored: `chunks` of any lengths, together `size` bytes. */
export interface SnapshotFile {
  chunks: AsyncIterable<Uint8Array>;
  size: number;
  /** Another one once the file was written to. An interrupted import goes on with the same alone. */
  version?: string;
}

export type SnapshotKind = 'full' | 'delta';

/**
 * A snapshot file is truncated, damaged, of another kind, or breaks a rule of
 * docs/snapshot-format.md. The message says what is wrong and where in the file.
 */
export class SnapshotRefusal extends StardustError {
  readonly file: SnapshotKind;

  /**
   * @param offset bytes from the start of the file
   * @param cause why a part of the file is refused, where that is for a rule of its own
   */
  constructor(file: SnapshotKind, offset: number, reason: string, cause?: unknown) {
    const rule = cause instanceof StardustError ? cause.rule : 'TIP-35';
    super(rule, reason, { path: `${file} snapshot`, offset, cause });
    this.file = file;
  }
}

export class ByteStream {
  readonly kind: SnapshotKind;
  readonly size: number;
  /** Bytes that name the length and the version. */
  readonly version: Uint8Array;
  /** Bytes taken so far. */
  offset = 0;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #position = 0;

  constructor(kind: SnapshotKind, file: SnapshotFile) {
    this.kind = kind;
    this.size = file.size;
    this.version = new TextEncoder().encode(`${file.size} ${file.version}`);
    this.#chunks = file.chunks[Symbol.asyncIterator]();
  }

  /**
   * Takes a copy of the next `length` bytes. Throws a {@link SnapshotRefusal} if the file ends
   * before; its message says that it ends within `what`.
   */
  async take(length: number, what: string): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      if (this.#position === this.#chunk.length && !(await this.#next()))
        throw this.refusal(
          `the file ends within ${what}, ${length - filled} bytes too early`,
          this.offset + filled,
        );
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

  /** Releases the file, whether or not all of it was read. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** Returns what `work` returns. An error of it gets the position in the file. */
  async located<T>(offset: number, work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StardustError) throw this.refusal(error.reason, offset, error);
      throw error;
    }
  }

  refusal(reason: string, offset: number, cause?: unknown): SnapshotRefusal {
    return new SnapshotRefusal(this.kind, offset, reason, cause);
  }
}

/**
 * Decodes all of `bytes`, which begin at `offset` in the file. Throws a {@link SnapshotRefusal}
 * that quotes the broken rule if they are not valid.
 */
export function decodePart<T>(
  stream: ByteStream,
  offset: number,
  what: string,
  codec: Codec<T>,
  bytes: Uint8Array,
): T {
  try {
    return decode(codec, bytes);
  } catch (error) {
    if (error instanceof StardustError)
      throw stream.refusal(`${what}: ${error.reason}`, offset, error);
    throw error;
  }
}
