/**
 * Writes answers of workerd to a client: with the framing that the client's HTTP version has, and
 * compressed where it accepts that.
 */
import type { Socket } from 'node:net';
import type { AnswerHead } from './answer-reader.ts';
import { type ByteStore, createByteStore } from './byte-store.ts';
import { type Compression, compress, formLines, isCompressible } from './compression.ts';
import type { FrontRequest } from './request-reader.ts';

/** What workerd is taken to hold of an answer whose length it does not tell. */
const UNKNOWN_BYTES = 64 * 1024;

/** What is copied together to be written at once. */
const MAX_SMALL_BYTES = 16 * 1024;

export interface AnswerWriter {
  /** Whether the client may have seen something of the answer. */
  readonly hasBegun: boolean;
  /** What is held of answers: in workerd, while it is compressed, and what the client does not read. */
  readonly bytes: number;
  begin(request: FrontRequest, head: AnswerHead, isLast: boolean): void;
  write(piece: Buffer): void;
  end(): void;
  /** Writes what it has, when no more of the answer is there yet. */
  flush(): void;
  /** The client has gone. */
  drop(): void;
}

export interface AnswerWriterOptions {
  socket: Socket;
  compression: Compression;
  onSent: (bytes: number) => void;
  /** The socket has all of an answer. */
  onEnd: () => void;
}

export function createAnswerWriter(options: AnswerWriterOptions): AnswerWriter {
  const { socket, compression, onSent, onEnd } = options;
  let head: AnswerHead | undefined;
  let isLast = false;
  let framing: 'chunked' | 'plain' = 'plain';
  /** Of the answer, what workerd has. */
  let left = 0;
  /** The answer, where it is to be compressed. */
  let gathered: ByteStore | undefined;
  /** Small pieces that are written at once: each write is a call of the system. */
  let small: Buffer[] = [];
  let smallBytes = 0;

  function writeHead(length: number | undefined, isCompressed: boolean): void {
    const { status, statusText, lines, etag, vary } = head!;
    let text = `HTTP/1.1 ${statusText}\r\n${lines}`;
    if (status === 200 || status === 304) text += formLines(head!, isCompressed);
    else {
      if (etag !== undefined) text += `ETag: ${etag}\r\n`;
      if (vary !== undefined) text += `Vary: ${vary}\r\n`;
    }
    // with 204 and 304 there is no length (RFC 9110, 8.6)
    if (status !== 204 && status !== 304) {
      if (length !== undefined) text += `Content-Length: ${length}\r\n`;
      else if (framing === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
    }
    writeText(`${text}${isLast ? 'Connection: close\r\n' : ''}\r\n`);
  }

  async function endCompressed(body: Buffer): Promise<void> {
    let bytes: Buffer | undefined;
    try {
      bytes = await compress(body);
    } finally {
      compression.end();
    }
    if (socket.destroyed) return;
    gathered = undefined;
    writeHead(bytes.length, true);
    send(bytes);
    finish();
  }

  const writeText = (text: string) => send(Buffer.from(text, 'latin1'));

  function send(piece: Buffer): void {
    if (smallBytes + piece.length > MAX_SMALL_BYTES) flush();
    if (piece.length > MAX_SMALL_BYTES) {
      onSent(piece.length);
      socket.write(piece);
      return;
    }
    small.push(piece);
    smallBytes += piece.length;
  }

  function flush(): void {
    if (smallBytes === 0) return;
    const bytes = small.length === 1 ? small[0]! : Buffer.concat(small, smallBytes);
    small = [];
    smallBytes = 0;
    onSent(bytes.length);
    socket.write(bytes);
  }

  function finish(): void {
    head = undefined;
    left = 0;
    flush();
    onEnd();
  }

  return {
    get hasBegun() {
      return head !== undefined;
    },
    get bytes() {
      return left + (gathered?.capacity ?? 0) + socket.writableLength;
    },
    begin(request, next, isLastAnswer) {
      head = next;
      isLast = isLastAnswer;
      left = request.isHead ? 0 : (next.length ?? UNKNOWN_BYTES);
      const isChunked = next.length === undefined && !request.isOld && !request.isHead;
      framing = isChunked ? 'chunked' : 'plain';
      const mayCompress = request.acceptsGzip && !request.isHead && isCompressible(next);
      if (mayCompress && compression.begin()) gathered = createByteStore(next.length);
      else writeHead(next.length, false);
    },
    write(piece) {
      if (head!.length !== undefined) left -= piece.length;
      if (gathered !== undefined) gathered.add(piece);
      else if (framing === 'plain') send(piece);
      else {
        writeText(`${piece.length.toString(16)}\r\n`);
        send(piece);
        writeText('\r\n');
      }
    },
    end() {
      if (gathered !== undefined) {
        void endCompressed(gathered.take());
        return;
      }
      if (framing === 'chunked' && head!.status !== 204 && head!.status !== 304)
        writeText('0\r\n\r\n');
      finish();
    },
    flush,
    drop() {
      // while it is being compressed, the place is freed by the end of that
      if (gathered !== undefined && gathered.length > 0) compression.end();
    },
  };
}
