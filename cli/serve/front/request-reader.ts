/**
 * Reads requests, head and body, out of the bytes of a connection. A request is passed on when it is
 * complete, so a slow client takes nothing of workerd, and always with Content-Length.
 */
import { createPieces } from './pieces.ts';
import { refuseRequest } from './refusal.ts';
import { type RequestHead, readRequestHead } from './request-head.ts';

/** As nginx: four buffers of 8 KB. */
export const MAX_HEAD_BYTES = 32 * 1024;

/** Above the longest body that a route reads, 512 KB, which the Worker refuses by its own words. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Of a body. Reading one takes as long as reading a hundred bytes. */
export const MAX_CHUNKS = 4096;

/** A size in hex, possibly with extensions, which nobody reads. */
const CHUNK_SIZE = /^([0-9a-fA-F]{1,6})(?:;[\x20-\x7e]*)?$/;
const MAX_CHUNK_LINE_BYTES = 256;

const TOO_LONG = `the body is longer than ${MAX_BODY_BYTES} bytes`;
const MALFORMED = 'the chunks of the body are malformed';

export function createRequestReader(peer: string, isProxy: boolean) {
  const pieces = createPieces();
  /** Where the search for the end of the head goes on. */
  let searched = 0;
  /** An empty line before the head. */
  let isSkipped = false;
  let head: RequestHead | undefined;
  let isHead = false;
  /** Of a body in chunks: the pieces begin with so many bytes of it, without framing. */
  let decoded = 0;
  let phase: 'size' | 'data' | 'end of data' | 'end' = 'size';
  let chunkLeft = 0;
  let chunks = 0;

  function readHead(): void {
    // an empty line before a request (RFC 9112 §2.2)
    if (!isSkipped && pieces.bytes[0] === 13 && pieces.bytes[1] === 10) {
      pieces.take(2);
      isSkipped = true;
    }
    const { bytes: held } = pieces;
    const end = held.indexOf('\r\n\r\n', searched, 'latin1');
    // no other method begins with it
    isHead = held[0] === 0x48;
    if (end > MAX_HEAD_BYTES || (end < 0 && held.length > MAX_HEAD_BYTES))
      refuseRequest(`the head is longer than ${MAX_HEAD_BYTES} bytes`);
    searched = Math.max(0, held.length - 3);
    if (end < 0) return;
    head = readRequestHead(held.toString('latin1', 0, end), peer, isProxy);
    pieces.take(end + 4);
    const { bodyLength } = head;
    if (bodyLength !== 'chunked' && bodyLength > MAX_BODY_BYTES) refuseRequest(TOO_LONG);
    isSkipped = false;
    searched = 0;
    decoded = 0;
    phase = 'size';
    chunks = 0;
  }

  /**
   * Moves the data of chunks to the front, over their framing. Returns where the body's
   * last byte and its framing end; undefined until they are there.
   */
  function readChunks(): number | undefined {
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
      if ((end < 0 ? held.length : end) - at > MAX_CHUNK_LINE_BYTES) refuseRequest(MALFORMED);
      if (end < 0) break;
      const line = held.toString('latin1', at, end);
      at = end + 2;
      if (phase === 'size') {
        const [, size] = CHUNK_SIZE.exec(line) ?? [];
        if (size === undefined) refuseRequest(MALFORMED);
        chunkLeft = Number.parseInt(size, 16);
        if (decoded + chunkLeft > MAX_BODY_BYTES) refuseRequest(TOO_LONG);
        chunks += 1;
        if (chunks > MAX_CHUNKS) refuseRequest(`the body has more than ${MAX_CHUNKS} chunks`);
        phase = chunkLeft === 0 ? 'end' : 'data';
      }
      // behind data; or fields after the last chunk, which no route reads
      else if (line !== '') refuseRequest(MALFORMED);
      else if (phase === 'end') return at;
      else phase = 'size';
    }
    pieces.cut(decoded, at);
    return undefined;
  }

  return {
    push: pieces.push,
    /** The next complete request, its body in its text; undefined until there is one. Throws an HttpError. */
    next(): RequestHead | undefined {
      if (head === undefined) readHead();
      if (head === undefined) return undefined;
      const { bodyLength } = head;
      const end = bodyLength === 'chunked' ? readChunks() : bodyLength;
      if (end === undefined || end > pieces.bytes.length) return undefined;
      const length = bodyLength === 'chunked' ? decoded : end;
      const body = pieces.take(end).toString('latin1', 0, length);
      if (bodyLength !== 0) head.text += `Content-Length: ${length}\r\n`;
      head.text += `\r\n${body}`;
      const request = head;
      head = undefined;
      return request;
    },
    /** Takes all bytes that belong to no request yet, for what follows an upgrade. */
    takeRest: () => pieces.take(),
    /** Whether the request that was read last, or was refused, is HEAD. */
    get isHead() {
      return isHead;
    },
    /** Whether the client waits for `100 Continue`. It is told once. */
    takeExpectation(): boolean {
      const expected = head?.expectsContinue ?? false;
      if (head !== undefined) head.expectsContinue = false;
      return expected;
    },
    /** Whether a request has begun and is not complete. */
    get isInside() {
      return head !== undefined || pieces.bytes.length > 0;
    },
    /** What it holds in memory. */
    get bytes() {
      return pieces.size;
    },
  };
}
