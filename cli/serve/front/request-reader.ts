/**
 * Reads requests, head and body, out of the bytes of a connection. A request is passed on when it is
 * complete, so a slow client takes nothing of workerd, and always with Content-Length.
 */
import { createPieces } from './pieces.ts';
import { type HeadRefusal, type RequestHead, readRequestHead } from './request-head.ts';

/** As nginx: four buffers of 8 KB. */
export const MAX_HEAD_BYTES = 32 * 1024;

/** Above the longest body that a route reads, 512 KB, which the Worker refuses by its own words. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Of a body. Reading one takes as long as reading a hundred bytes. */
export const MAX_CHUNKS = 4096;

/** A size in hex, possibly with extensions, which nobody reads. */
const CHUNK_SIZE = /^([0-9a-fA-F]{1,6})(?:;[\x20-\x7e]*)?$/;
const MAX_CHUNK_LINE_BYTES = 256;

export interface FrontRequest extends Omit<RequestHead, 'text'> {
  /** Head and body, as they are passed on, in latin1: one write is one call of the system. */
  message: string;
}

export interface RequestReader {
  push(piece: Buffer): void;
  /** The next complete request; undefined until there is one. */
  next(): FrontRequest | HeadRefusal | undefined;
  /** Takes all bytes that belong to no request yet, for what follows an upgrade. */
  takeRest(): Buffer;
  /** Whether a request has begun and is not complete. */
  readonly isInside: boolean;
  /** Whether the client waits for `100 Continue`. It is told once. */
  takeExpectation(): boolean;
  /** What it holds in memory. */
  readonly bytes: number;
}

export function createRequestReader(peer: string, isProxy: boolean): RequestReader {
  const pieces = createPieces();
  /** Where the search for the end of the head goes on. */
  let searched = 0;
  let head: RequestHead | undefined;
  let expectation = false;
  /** Of a body in chunks: the pieces begin with so many bytes of it, without framing. */
  let decoded = 0;
  let phase: 'size' | 'data' | 'end of data' | 'end' = 'size';
  let chunkLeft = 0;
  let chunks = 0;

  function readHead(): HeadRefusal | undefined {
    // empty lines before a request (RFC 9112 §2.2)
    while (pieces.bytes[0] === 13 && pieces.bytes[1] === 10) pieces.take(2);
    const { bytes: held } = pieces;
    const end = held.indexOf('\r\n\r\n', searched, 'latin1');
    if (end > MAX_HEAD_BYTES || (end < 0 && held.length > MAX_HEAD_BYTES))
      return refuse(`the head is longer than ${MAX_HEAD_BYTES} bytes`);
    searched = Math.max(0, held.length - 3);
    if (end < 0) return undefined;
    const result = readRequestHead(held.toString('latin1', 0, end), peer, isProxy);
    pieces.take(end + 4);
    searched = 0;
    if ('status' in result) return result;
    const { bodyLength, isHead, expectsContinue } = result;
    if (bodyLength !== 'chunked' && bodyLength > MAX_BODY_BYTES)
      return { ...refuse(TOO_LONG), isHead };
    head = result;
    expectation = expectsContinue && bodyLength !== 0;
    decoded = 0;
    phase = 'size';
    chunks = 0;
    return undefined;
  }

  /**
   * Moves the data of chunks to the front, over their framing. Returns where the body's
   * last byte and its framing end; undefined until they are there.
   */
  function readChunks(): number | HeadRefusal | undefined {
    const { bytes: held } = pieces;
    let at = decoded;
    for (;;) {
      if (phase === 'data') {
        const to = Math.min(at + chunkLeft, held.length);
        held.copyWithin(decoded, at, to);
        decoded += to - at;
        chunkLeft -= to - at;
        at = to;
        if (chunkLeft > 0) break;
        phase = 'end of data';
      }
      const end = held.indexOf('\r\n', at, 'latin1');
      if ((end < 0 ? held.length : end) - at > MAX_CHUNK_LINE_BYTES) return refuse(MALFORMED);
      if (end < 0) break;
      const line = held.toString('latin1', at, end);
      at = end + 2;
      if (phase === 'size') {
        const [, size] = CHUNK_SIZE.exec(line) ?? [];
        if (size === undefined) return refuse(MALFORMED);
        chunkLeft = Number.parseInt(size, 16);
        if (decoded + chunkLeft > MAX_BODY_BYTES) return refuse(TOO_LONG);
        chunks += 1;
        if (chunks > MAX_CHUNKS) return refuse(`the body has more than ${MAX_CHUNKS} chunks`);
        phase = chunkLeft === 0 ? 'end' : 'data';
      }
      // behind data; or fields after the last chunk, which no route reads
      else if (line !== '') return refuse(MALFORMED);
      else if (phase === 'end') return at;
      else phase = 'size';
    }
    pieces.cut(decoded, at);
    return undefined;
  }

  return {
    push: pieces.push,
    next() {
      const refusal = head === undefined ? readHead() : undefined;
      if (refusal !== undefined || head === undefined) return refusal;
      const { text, ...rest } = head;
      const isChunked = rest.bodyLength === 'chunked';
      const end = isChunked ? readChunks() : (rest.bodyLength as number);
      if (typeof end === 'object') return end;
      if (end === undefined || end > pieces.bytes.length) return undefined;
      const length = isChunked ? decoded : end;
      const framing = rest.bodyLength === 0 ? '' : `Content-Length: ${length}\r\n`;
      const body = pieces.take(end).toString('latin1', 0, length);
      head = undefined;
      expectation = false;
      return { ...rest, message: `${text}${framing}\r\n${body}` };
    },
    takeRest: () => pieces.take(pieces.bytes.length),
    takeExpectation() {
      const expected = expectation;
      expectation = false;
      return expected;
    },
    get isInside() {
      return head !== undefined || pieces.bytes.length > 0;
    },
    get bytes() {
      return pieces.size;
    },
  };
}

const TOO_LONG = `the body is longer than ${MAX_BODY_BYTES} bytes`;
const MALFORMED = 'the chunks of the body are malformed';

const refuse = (detail: string): HeadRefusal => ({ status: 400, detail });
