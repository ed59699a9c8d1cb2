/**
 * Reads requests, head and body, out of the bytes of a connection. A request is passed on when it is
 * complete, so a slow client takes nothing of workerd, and always with Content-Length.
 */
import { type ByteStore, createByteStore } from './byte-store.ts';
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

/** What a request takes besides its bytes. */
const OVERHEAD_BYTES = 1024;

export interface FrontRequest extends Omit<RequestHead, 'text'> {
  /** As it is passed on, with a body that is short. */
  head: Buffer;
  body: Buffer | undefined;
  /** What it takes in memory. */
  bytes: number;
}

export interface RequestReader {
  push(chunk: Buffer): void;
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

/** A longer body is not copied. */
const MAX_JOINED_BYTES = 16 * 1024;

const EMPTY = Buffer.alloc(0);

type Phase = 'size' | 'data' | 'end of data' | 'end';

export function createRequestReader(peer: string, isProxy: boolean): RequestReader {
  /** What was received and is not read yet: a piece as it came, or pieces in `owned`. */
  let held: Buffer = EMPTY;
  let owned: Buffer = EMPTY;
  /** Where the search for the end of the head goes on. */
  let searched = 0;
  let head: RequestHead | undefined;
  let expectation = false;
  let body: ByteStore | undefined;
  let phase: Phase = 'size';
  let chunkLeft = 0;
  let chunks = 0;

  function readHead(): HeadRefusal | undefined {
    // empty lines before a request (RFC 9112 §2.2)
    while (held[0] === 13 && held[1] === 10) held = held.subarray(2);
    const end = held.indexOf('\r\n\r\n', searched, 'latin1');
    if (end > MAX_HEAD_BYTES || (end < 0 && held.length > MAX_HEAD_BYTES))
      return { status: 400, detail: `the head is longer than ${MAX_HEAD_BYTES} bytes` };
    searched = Math.max(0, held.length - 3);
    if (end < 0) return undefined;
    const result = readRequestHead(held.toString('latin1', 0, end), peer, isProxy);
    held = held.subarray(end + 4);
    searched = 0;
    if ('status' in result) return result;
    const { bodyLength, isHead } = result;
    if (bodyLength !== 'chunked' && bodyLength > MAX_BODY_BYTES) return { ...tooLong(), isHead };
    head = result;
    expectation = result.expectsContinue && bodyLength !== 0;
    body =
      bodyLength === 0
        ? undefined
        : createByteStore(bodyLength === 'chunked' ? MAX_BODY_BYTES : bodyLength);
    phase = 'size';
    chunks = 0;
    return undefined;
  }

  /** Moves up to `length` bytes into the body; how many. */
  function take(length: number): number {
    const part = held.subarray(0, length);
    if (part.length > 0) body?.add(part);
    held = held.subarray(part.length);
    return part.length;
  }

  /** The next line of the chunks; undefined until it is there. */
  function takeLine(): string | undefined {
    const end = held.indexOf('\r\n', 0, 'latin1');
    if (end < 0) return undefined;
    const line = held.toString('latin1', 0, end);
    held = held.subarray(end + 2);
    return line;
  }

  /** Whether the body is complete. */
  function readChunks(): boolean | HeadRefusal {
    for (;;) {
      if (phase === 'data') {
        chunkLeft -= take(chunkLeft);
        if (chunkLeft > 0) return false;
        phase = 'end of data';
      }
      const line = takeLine();
      if (line === undefined) return held.length > MAX_CHUNK_LINE_BYTES ? malformedChunks() : false;
      if (phase === 'size') {
        const [, size] = CHUNK_SIZE.exec(line) ?? [];
        if (size === undefined || line.length > MAX_CHUNK_LINE_BYTES) return malformedChunks();
        chunkLeft = Number.parseInt(size, 16);
        if (body!.length + chunkLeft > MAX_BODY_BYTES) return tooLong();
        chunks += 1;
        if (chunks > MAX_CHUNKS)
          return { status: 400, detail: `the body has more than ${MAX_CHUNKS} chunks` };
        phase = chunkLeft === 0 ? 'end' : 'data';
      } else if (line !== '') {
        // behind data, or fields after the last chunk, which no route reads
        return malformedChunks();
      } else if (phase === 'end') {
        return true;
      } else {
        phase = 'size';
      }
    }
  }

  /** The request whose head is `complete`, and whose body is. */
  function finish({ text, ...complete }: RequestHead): FrontRequest {
    const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`;
    const bytes = Buffer.from(`${text}${length}\r\n`, 'latin1');
    const held = OVERHEAD_BYTES + bytes.length + (body?.capacity ?? 0);
    head = undefined;
    expectation = false;
    const rest = body?.take();
    // one write is one call of the system, and one packet for workerd
    const isShort = rest !== undefined && rest.length <= MAX_JOINED_BYTES;
    return {
      ...complete,
      head: isShort ? Buffer.concat([bytes, rest]) : bytes,
      body: isShort ? undefined : rest,
      bytes: held,
    };
  }

  function read(): FrontRequest | HeadRefusal | undefined {
    if (head === undefined) {
      const refusal = readHead();
      if (refusal !== undefined) return refusal;
      if (head === undefined) return undefined;
    }
    const { bodyLength } = head as RequestHead;
    let isComplete: boolean | HeadRefusal;
    if (bodyLength === 'chunked') {
      isComplete = readChunks();
    } else if (body === undefined) {
      isComplete = true;
    } else {
      take(bodyLength - body.length);
      isComplete = body.length === bodyLength;
    }
    if (isComplete === true) return finish(head);
    return isComplete === false ? undefined : isComplete;
  }

  return {
    push(chunk) {
      if (held.length === 0) {
        held = chunk;
        return;
      }
      const length = held.length + chunk.length;
      let from = held.buffer === owned.buffer ? held.byteOffset : -1;
      if (from < 0 || from + length > owned.length) {
        // twice as long, so that bytes that come one by one are not copied each time
        owned = Buffer.allocUnsafeSlow(2 * length);
        held.copy(owned);
        from = 0;
      }
      chunk.copy(owned, from + held.length);
      held = owned.subarray(from, from + length);
    },
    next: read,
    takeRest() {
      const rest = held;
      held = EMPTY;
      owned = EMPTY;
      return rest;
    },
    takeExpectation() {
      const expected = expectation;
      expectation = false;
      return expected;
    },
    get isInside() {
      return head !== undefined || held.length > 0;
    },
    get bytes() {
      const inside = head === undefined ? 0 : OVERHEAD_BYTES + (body?.capacity ?? 0);
      return held.length === 0 ? inside : inside + held.buffer.byteLength;
    },
  };
}

function tooLong(): HeadRefusal {
  return { status: 400, detail: `the body is longer than ${MAX_BODY_BYTES} bytes` };
}

function malformedChunks(): HeadRefusal {
  return { status: 400, detail: 'the chunks of the body are malformed' };
}
