/**
 * Passes answers of workerd on to a client (RFC 9112, 6), compressed where it accepts gzip (RFC 9110,
 * 8.4 and 12.5.3). The Worker makes each answer as a whole, so all have Content-Length. workerd is
 * trusted, so what is not as expected is a fault of ours: an Error, as are its own answers.
 *
 * What is kept of an answer tells the two forms apart by `Vary`; the compressed form has a weak ETag,
 * as those of nginx, and If-None-Match compares weakly, so either form has 304.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createPieces } from './pieces.ts';
import type { RequestHead } from './request-head.ts';

/** What is copied to be written together with other pieces: each write is a call of the system. */
const MAX_SMALL_BYTES = 16 * 1024;

const END = '\r\n\r\n';

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) /;
const LENGTH = /\r\ncontent-length: *(\d{1,15})/i;

const OF_WORKER = /\r\naccess-control-allow-origin:/i;

/** Of the connection between workerd and us. */
const HOP = /\r\n(?:connection|keep-alive):[^\r]*/gi;

const VARY = /\r\nvary:[^\r]*/i;
const STRONG_TAG = /(\r\netag: *)"/i;

/** Below, a packet is saved at best; above, too much is held, as the whole answer is. */
const MIN_GZIP_BYTES = 1024;
const MAX_GZIP_BYTES = 8 * 1024 * 1024;

/** 1 is fastest, 9 smallest. */
const GZIP_LEVEL = 4;

/** Of zlib itself, for each answer. */
const ZLIB_BYTES = 256 * 1024;

/** Of all answers that zlib has: it keeps each until it is done, though the client has gone. */
const MAX_PACKING_BYTES = 2 * (MAX_GZIP_BYTES + ZLIB_BYTES);

const COMPRESSIBLE =
  /\r\ncontent-type: *(?:text\/|application\/(?:json|javascript|manifest\+json|wasm)|image\/svg)/i;

/** To a WebSocket. */
export const SWITCHING = 101;

const compressed = promisify(gzip);
let packing = 0;

/** Undefined where zlib has enough to do, or fails. */
async function pack(body: Buffer): Promise<Buffer | undefined> {
  const held = body.length + ZLIB_BYTES;
  if (packing + held > MAX_PACKING_BYTES) return undefined;
  packing += held;
  const packed = await compressed(body, { level: GZIP_LEVEL }).catch(() => undefined);
  packing -= held;
  return packed;
}

export interface AnswerOptions {
  write: (bytes: Buffer | string) => void;
  /** Called when the head is there. Returns whether the answer is the connection's last one. */
  onHead: () => boolean;
  /** Called when all of the answer is written. */
  onEnd: (status: number) => void;
}

export function createAnswer({ write, onHead, onEnd }: AnswerOptions) {
  let phase: 'none' | 'head' | 'body' | 'read' = 'none';
  let request: RequestHead | undefined;
  /** Bytes until the head is complete. */
  const pieces = createPieces();
  let head = '';
  let status = 0;
  let length = 0;
  /** Of the body, in workerd. */
  let left = 0;
  let isLast = false;
  /** The body, where it is to be compressed. */
  let gathered: Buffer[] | undefined;

  function readHead(): void {
    status = Number(STATUS_LINE.exec(head)?.[1]);
    if (Number.isNaN(status)) throw new Error('an answer is no HTTP');
    if (status >= 500 && !OF_WORKER.test(head)) throw new Error(`workerd itself says ${status}`);
    const hasBody = !request!.isHead && status !== SWITCHING && status !== 204 && status !== 304;
    length = hasBody ? Number(LENGTH.exec(head)?.[1]) : 0;
    if (Number.isNaN(length)) throw new Error('an answer has no length');
    left = length;
    phase = 'body';
    isLast = onHead();
    if (status !== SWITCHING) head = head.replace(HOP, '');
    const isPacked =
      request!.acceptsGzip &&
      status === 200 &&
      length >= MIN_GZIP_BYTES &&
      length <= MAX_GZIP_BYTES &&
      COMPRESSIBLE.test(head);
    gathered = isPacked ? [] : undefined;
  }

  /** Head and bytes of the body. */
  function begin(piece: Buffer): void {
    // one line: nginx before 1.23 reads the last one alone
    if (status === 200 || status === 304)
      head = VARY.test(head)
        ? head.replace(VARY, '$&, Accept-Encoding')
        : `${head}\r\nVary: Accept-Encoding`;
    const start = `${head}${isLast ? '\r\nConnection: close' : ''}${END}`;
    const isSmall = piece.length <= MAX_SMALL_BYTES;
    for (const part of isSmall ? [start + piece.toString('latin1')] : [start, piece]) write(part);
  }

  async function compress(body: Buffer): Promise<void> {
    const packed = await pack(body);
    if (packed !== undefined)
      head = head
        .replace(LENGTH, `\r\nContent-Length: ${packed.length}\r\nContent-Encoding: gzip`)
        .replace(STRONG_TAG, '$1W/"');
    begin(packed ?? body);
    finish();
  }

  function finish(): void {
    phase = 'none';
    gathered = undefined;
    onEnd(status);
  }

  function readBody(piece: Buffer, isFirst: boolean): void {
    left -= piece.length;
    if (left === 0) phase = 'read';
    if (gathered === undefined) {
      if (isFirst) begin(piece);
      else write(piece);
      if (left === 0) finish();
      return;
    }
    gathered.push(piece);
    if (left === 0) void compress(Buffer.concat(gathered.splice(0)));
  }

  return {
    /** Expects the answer to this request. */
    expect(next: RequestHead): void {
      request = next;
      phase = 'head';
      pieces.take();
    },
    /** Returns bytes behind the answer, which are there after 101 only. */
    push(piece: Buffer): Buffer | undefined {
      if (phase !== 'head' && phase !== 'body') throw new Error('bytes behind an answer');
      const isFirst = phase === 'head';
      let bytes = piece;
      if (isFirst) {
        pieces.push(piece);
        const end = pieces.bytes.indexOf(END, 0, 'latin1');
        if (end < 0) return undefined;
        head = pieces.take(end + END.length).toString('latin1', 0, end);
        bytes = pieces.take();
        readHead();
      }
      const rest = bytes.length > left ? bytes.subarray(left) : undefined;
      readBody(rest === undefined ? bytes : bytes.subarray(0, left), isFirst);
      return rest;
    },
    /** Whether the client may have seen something of it. */
    get hasBegun() {
      return phase === 'body' || phase === 'read';
    },
    /** Whether all of it was read. */
    get isRead() {
      return phase === 'none' || phase === 'read';
    },
    /** What is held of it in workerd and here. */
    get bytes() {
      return gathered === undefined ? left : length;
    },
  };
}
