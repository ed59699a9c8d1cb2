/**
 * Passes answers of workerd on to a client (RFC 9112, 6): with the framing that the client's HTTP
 * version has, and compressed where it accepts gzip (RFC 9110, 8.4 and 12.5.3). workerd is trusted, so
 * what is not as expected is a fault of ours: an Error.
 *
 * What is kept of an answer tells the two forms apart by `Vary`; the compressed form has a weak ETag,
 * as those of nginx, and If-None-Match compares weakly, so either form has 304.
 */
import type { Socket } from 'node:net';
import { gzip } from 'node:zlib';
import type { FrontRequest } from './request-reader.ts';

/** What is copied to be written together with other pieces. */
const MAX_SMALL_BYTES = 16 * 1024;

const LONGEST_HEAD = 64 * 1024;

const END = '\r\n\r\n';

/** What workerd is taken to hold of an answer whose length it does not tell. */
const UNKNOWN_BYTES = 64 * 1024;

/** Below, a packet is saved at best; above, too much is held, as the whole answer is. */
const MIN_GZIP_BYTES = 1024;
const MAX_GZIP_BYTES = 8 * 1024 * 1024;

/** Answers that are being compressed. Others are sent as they are. */
const MAX_GZIPS = 4;

/** 1 is fastest, 9 smallest. */
const GZIP_LEVEL = 4;

const COMPRESSIBLE = /^(?:text\/|application\/(?:json|javascript|manifest\+json|wasm)|image\/svg)/;

let gzips = 0;

interface Head {
  status: number;
  /** Status and reason, as `200 OK`. */
  statusText: string;
  /** Header lines without those of framing, connection and forms, each with its line end. */
  lines: string;
  /** Content-Length; undefined: it comes in chunks, or has no body. */
  length: number | undefined;
  etag: string | undefined;
  vary: string | undefined;
  isChunked: boolean;
  isCompressible: boolean;
}

export interface AnswerRelay {
  /** Expects the answer to this request. */
  expect(request: FrontRequest): void;
  /** Returns bytes behind the answer, which are there after 101 only. */
  push(bytes: Buffer): Buffer | undefined;
  /** Whether the client may have seen something of it. */
  readonly hasBegun: boolean;
  /** Whether all of it was read. */
  readonly isRead: boolean;
  /** What is held of it in workerd and here. */
  readonly bytes: number;
}

export interface AnswerOptions {
  socket: Socket;
  /** Called when the head is there. Returns whether the answer is the connection's last one. */
  onHead: () => boolean;
  /** Called when the socket has all of the answer. */
  onEnd: (status: number) => void;
}

export function createAnswer({ socket, onHead, onEnd }: AnswerOptions): AnswerRelay {
  let phase: 'head' | 'length' | 'size' | 'data' | 'end of data' | 'end' | 'done' = 'done';
  let request: FrontRequest | undefined;
  let head: Head | undefined;
  let isLast = false;
  /** A head or line that is not complete. */
  let held: Buffer | undefined;
  /** Of the body or the chunk. */
  let left = 0;
  /** Where the body is to be compressed. */
  let gathered: Buffer[] | undefined;
  /** Small pieces, as latin1, that are written at once: each write is a call of the system. */
  let small = '';

  const isForOld = () => request!.isOld || request!.isHead;

  /** Returns what is behind the head; undefined until it is there. */
  function readHead(bytes: Buffer): Buffer | undefined {
    const at = bytes.indexOf(END, 0, 'latin1');
    if (at < 0) {
      if (bytes.length > LONGEST_HEAD) throw new Error('the head of an answer is too long');
      held = bytes;
      return undefined;
    }
    head = parseHead(bytes.toString('latin1', 0, at));
    const { status, length } = head;
    const hasBody = !request!.isHead && status !== 101 && status !== 204 && status !== 304;
    head.isChunked &&= hasBody;
    if (!hasBody || length === 0) phase = 'done';
    else if (head.isChunked) phase = 'size';
    else if (length !== undefined) phase = 'length';
    else throw new Error('an answer has no length');
    left = length ?? 0;
    isLast = onHead();
    if (phase === 'length' && head.isCompressible && request!.acceptsGzip) gathered = [];
    else writeHead(length, false);
    return bytes.subarray(at + END.length);
  }

  function writeHead(length: number | undefined, isCompressed: boolean): void {
    const { status, statusText, lines, etag, vary } = head!;
    let text = `HTTP/1.1 ${statusText}\r\n${lines}`;
    const hasForms = status === 200 || status === 304;
    const varies = [vary, hasForms && 'Accept-Encoding'].filter(Boolean).join(', ');
    if (varies !== '') text += `Vary: ${varies}\r\n`;
    if (isCompressed) text += 'Content-Encoding: gzip\r\n';
    if (etag !== undefined)
      text += `ETag: ${isCompressed && !etag.startsWith('W/') ? 'W/' : ''}${etag}\r\n`;
    if (status === 101) text += 'Connection: Upgrade\r\n';
    // with 204 and 304 there is no length (RFC 9110, 8.6)
    else if (status !== 204 && status !== 304) {
      if (length !== undefined) text += `Content-Length: ${length}\r\n`;
      else if (!isForOld()) text += 'Transfer-Encoding: chunked\r\n';
    }
    small += `${text}${isLast ? 'Connection: close\r\n' : ''}\r\n`;
  }

  function writeBody(piece: Buffer): void {
    if (gathered !== undefined) gathered.push(piece);
    else if (!head!.isChunked || isForOld()) send(piece);
    else {
      small += `${piece.length.toString(16)}\r\n`;
      send(piece);
      small += '\r\n';
    }
  }

  function send(piece: Buffer): void {
    if (piece.length <= MAX_SMALL_BYTES) small += piece.toString('latin1');
    else {
      flush();
      socket.write(piece);
    }
  }

  function flush(): void {
    if (small !== '') socket.write(small, 'latin1');
    small = '';
  }

  /** Returns what is behind the line of a chunk; undefined until it is there. */
  function readLine(bytes: Buffer): Buffer | undefined {
    const at = bytes.indexOf('\r\n', 0, 'latin1');
    if (at < 0) {
      held = bytes;
      return undefined;
    }
    if (phase === 'size') {
      left = Number.parseInt(bytes.toString('latin1', 0, at), 16);
      if (Number.isNaN(left)) throw new Error('the chunks of an answer are malformed');
      phase = left === 0 ? 'end' : 'data';
    } else phase = phase === 'end' ? 'done' : 'size';
    return bytes.subarray(at + 2);
  }

  function readAll(piece: Buffer): Buffer | undefined {
    let bytes: Buffer | undefined = held === undefined ? piece : Buffer.concat([held, piece]);
    held = undefined;
    if (phase === 'head') bytes = readHead(bytes);
    while (phase !== 'done' && bytes !== undefined && bytes.length > 0) {
      if (phase !== 'length' && phase !== 'data') {
        bytes = readLine(bytes);
        continue;
      }
      const part: Buffer = bytes.subarray(0, left);
      left -= part.length;
      bytes = bytes.subarray(part.length);
      writeBody(part);
      if (left === 0) phase = phase === 'length' ? 'done' : 'end of data';
    }
    return bytes;
  }

  function endBody(): void {
    if (gathered !== undefined) compress(Buffer.concat(gathered));
    else {
      if (head!.isChunked && !isForOld()) small += '0\r\n\r\n';
      finish();
    }
  }

  function compress(body: Buffer): void {
    const endWith = (bytes: Buffer, isCompressed: boolean) => {
      gathered = undefined;
      if (socket.destroyed) return;
      writeHead(bytes.length, isCompressed);
      send(bytes);
      finish();
    };
    if (gzips === MAX_GZIPS) {
      endWith(body, false);
      return;
    }
    gzips += 1;
    gzip(body, { level: GZIP_LEVEL }, (error, packed) => {
      gzips -= 1;
      if (error === null) endWith(packed, true);
      else endWith(body, false);
    });
  }

  function finish(): void {
    const { status } = head!;
    head = undefined;
    flush();
    onEnd(status);
  }

  return {
    expect(next) {
      request = next;
      phase = 'head';
      held = undefined;
    },
    push(bytes) {
      if (phase === 'done') throw new Error('bytes behind an answer');
      const rest = readAll(bytes);
      if ((phase as string) === 'done') endBody();
      else flush();
      return rest !== undefined && rest.length > 0 ? rest : undefined;
    },
    get hasBegun() {
      return head !== undefined;
    },
    get isRead() {
      return phase === 'done';
    },
    get bytes() {
      if (head === undefined) return 0;
      if (gathered !== undefined) return head.length!;
      return phase === 'done' ? 0 : head.isChunked ? UNKNOWN_BYTES : left;
    },
  };
}

/** Names that are read here, and whether the line is passed on as it came. */
const READ = new Map([
  ['content-length', false],
  ['transfer-encoding', false],
  ['connection', false],
  ['keep-alive', false],
  ['etag', false],
  ['vary', false],
  ['content-type', true],
  ['content-encoding', true],
  ['cache-control', true],
]);

function parseHead(text: string): Head {
  const [statusLine = '', ...lines] = text.split('\r\n');
  if (!statusLine.startsWith('HTTP/1.1 ')) throw new Error('an answer is no HTTP');
  const statusText = statusLine.slice('HTTP/1.1 '.length);
  const status = Number.parseInt(statusText, 10);
  const fields = new Map<string, string>();
  let passed = '';
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const isPassed = READ.get(name);
    if (isPassed !== undefined) fields.set(name, line.slice(colon + 1).trim());
    if (isPassed !== false) passed += `${line}\r\n`;
  }
  const length = fields.has('content-length') ? Number(fields.get('content-length')) : undefined;
  return {
    status,
    statusText,
    lines: passed,
    length,
    etag: fields.get('etag'),
    vary: fields.get('vary'),
    isChunked: fields.has('transfer-encoding'),
    isCompressible:
      status === 200 &&
      length !== undefined &&
      length >= MIN_GZIP_BYTES &&
      length <= MAX_GZIP_BYTES &&
      !fields.has('content-encoding') &&
      !fields.get('cache-control')?.includes('no-transform') &&
      COMPRESSIBLE.test(fields.get('content-type')?.toLowerCase() ?? ''),
  };
}
