/**
 * Reads requests, head and body, out of the bytes of a connection. A request is passed on when it is
 * complete, so a slow client takes nothing of workerd, and always with Content-Length.
 */
import { type HeadRefusal, type RequestHead, readRequestHead } from './request-head.ts';

/** As nginx: four buffers of 8 KB. */
export const MAX_HEAD_BYTES = 32 * 1024;

/** Above the longest body that a route reads, 512 KB, which the Worker refuses by its own words. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** A size in hex, possibly with extensions, which nobody reads. */
const CHUNK_SIZE = /^([0-9a-fA-F]{1,6})(?:;[\x20-\x7e]*)?$/;
const MAX_CHUNK_LINE_BYTES = 256;

export interface FrontRequest extends RequestHead {
  /** The whole request as it is passed on. */
  bytes: Buffer | string;
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
  readonly bytes: number;
}

const EMPTY = Buffer.alloc(0);

type Phase = 'size' | 'data' | 'end of data' | 'end';

export function createRequestReader(peer: string, isProxy: boolean): RequestReader {
  let held: Buffer = EMPTY;
  /** Where the search for the end of the head goes on. */
  let searched = 0;
  let head: RequestHead | undefined;
  let expectation = false;
  let body: Buffer[] = [];
  let bodyBytes = 0;
  let phase: Phase = 'size';
  let chunkLeft = 0;

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
    if (result.bodyLength !== 'chunked' && result.bodyLength > MAX_BODY_BYTES) return tooLong();
    head = result;
    expectation = result.expectsContinue && result.bodyLength !== 0;
    phase = 'size';
    return undefined;
  }

  /** Moves up to `length` bytes into the body; how many. */
  function take(length: number): number {
    const part = held.subarray(0, length);
    if (part.length > 0) body.push(part);
    bodyBytes += part.length;
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
        if (size === undefined) return malformedChunks();
        chunkLeft = Number.parseInt(size, 16);
        if (bodyBytes + chunkLeft > MAX_BODY_BYTES) return tooLong();
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

  return {
    push(chunk) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    },
    next() {
      if (head === undefined) {
        const refused = readHead();
        if (refused !== undefined) return refused;
        if (head === undefined) return undefined;
      }
      const { bodyLength } = head as RequestHead;
      let isComplete: boolean | HeadRefusal;
      if (bodyLength === 'chunked') {
        isComplete = readChunks();
      } else {
        take(bodyLength - bodyBytes);
        isComplete = bodyBytes === bodyLength;
      }
      if (isComplete === false) return undefined;
      if (isComplete !== true) return isComplete;
      const request = {
        ...(head as RequestHead),
        bytes: join(head as RequestHead, body, bodyBytes),
      };
      head = undefined;
      expectation = false;
      body = [];
      bodyBytes = 0;
      return request;
    },
    takeRest() {
      const rest = held;
      held = EMPTY;
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
      return held.length + bodyBytes;
    },
  };
}

function join({ text, bodyLength }: RequestHead, body: readonly Buffer[], bytes: number) {
  if (bodyLength === 0) return `${text}\r\n`;
  return Buffer.concat([Buffer.from(`${text}Content-Length: ${bytes}\r\n\r\n`, 'latin1'), ...body]);
}

function tooLong(): HeadRefusal {
  return { status: 400, detail: `the body is longer than ${MAX_BODY_BYTES} bytes` };
}

function malformedChunks(): HeadRefusal {
  return { status: 400, detail: 'the chunks of the body are malformed' };
}
