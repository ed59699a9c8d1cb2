/**
 * An answer of workerd: its head, the pieces of its body without the framing, and its end
 * (RFC 9112, 6). workerd is trusted, so what is not as expected is a fault of ours: an Error.
 */

export interface AnswerHead {
  status: number;
  /** Status and reason, as `200 OK`. */
  statusText: string;
  /** Header lines without those of framing and connection, each with its line end. */
  lines: string;
  /** Content-Length. */
  length: number | undefined;
  type: string;
  etag: string | undefined;
  vary: string | undefined;
  isEncoded: boolean;
  mayTransform: boolean;
}

export interface AnswerListener {
  onHead(head: AnswerHead): void;
  onBody(piece: Buffer): void;
  onEnd(): void;
}

const LONGEST_HEAD = 64 * 1024;

const END = '\r\n\r\n';

export const SWITCHING = 101;

const hasNoBody = (status: number) => status === 204 || status === 304;

type Phase = 'head' | 'length' | 'size' | 'data' | 'end of data' | 'last' | 'done';

export interface AnswerReader {
  /** Expects an answer, to HEAD or to another method. */
  start(isHead: boolean): void;
  /** Returns bytes behind the answer, which are there after 101 only. */
  push(bytes: Buffer): Buffer | undefined;
  readonly hasEnded: boolean;
}

export function createAnswerReader(listener: AnswerListener): AnswerReader {
  let phase: Phase = 'done';
  let isHead = false;
  let held: Buffer | undefined;
  let left = 0;

  function end(rest: Buffer): Buffer | undefined {
    phase = 'done';
    listener.onEnd();
    return rest.length > 0 ? rest : undefined;
  }

  /** What is behind the head; undefined until it is there. */
  function readHead(bytes: Buffer): Buffer | undefined {
    const at = bytes.indexOf(END, 0, 'latin1');
    if (at < 0) {
      if (bytes.length > LONGEST_HEAD) throw new Error('the head of an answer is too long');
      held = bytes;
      return undefined;
    }
    const [head, isChunked] = parseHead(bytes.toString('latin1', 0, at));
    const { status, length } = head;
    if (isHead || status === SWITCHING || hasNoBody(status) || length === 0) phase = 'done';
    else if (isChunked) phase = 'size';
    else if (length === undefined) throw new Error('an answer has no length');
    else phase = 'length';
    left = length ?? 0;
    listener.onHead(head);
    return bytes.subarray(at + END.length);
  }

  /** What is behind the line; undefined until it is there. */
  function readLine(bytes: Buffer): Buffer | undefined {
    const at = bytes.indexOf('\r\n', 0, 'latin1');
    if (at < 0) {
      held = bytes;
      return undefined;
    }
    const line = bytes.toString('latin1', 0, at);
    if (phase === 'size') {
      left = Number.parseInt(line, 16);
      if (Number.isNaN(left)) throw new Error('the chunks of an answer are malformed');
      phase = left === 0 ? 'last' : 'data';
    } else phase = phase === 'last' ? 'done' : 'size';
    return bytes.subarray(at + 2);
  }

  return {
    start(isHeadNow) {
      phase = 'head';
      isHead = isHeadNow;
      held = undefined;
    },
    push(piece) {
      let bytes = held === undefined ? piece : Buffer.concat([held, piece]);
      held = undefined;
      if (phase === 'head') {
        const rest = readHead(bytes);
        if (rest === undefined) return undefined;
        bytes = rest;
        if ((phase as Phase) === 'done') return end(bytes);
      }
      while (bytes.length > 0) {
        if (phase === 'done') throw new Error('bytes behind an answer');
        if (phase !== 'length' && phase !== 'data') {
          const rest = readLine(bytes);
          if (rest === undefined) return undefined;
          bytes = rest;
          if ((phase as Phase) === 'done') return end(bytes);
          continue;
        }
        const part = bytes.subarray(0, left);
        left -= part.length;
        bytes = bytes.subarray(part.length);
        listener.onBody(part);
        if (left > 0) return undefined;
        if (phase === 'length') return end(bytes);
        phase = 'end of data';
      }
      return undefined;
    },
    get hasEnded() {
      return phase === 'done';
    },
  };
}

function parseHead(text: string): [head: AnswerHead, isChunked: boolean] {
  const [statusLine, ...lines] = text.split('\r\n');
  if (!statusLine!.startsWith('HTTP/1.1 ')) throw new Error('an answer is no HTTP');
  const statusText = statusLine!.slice('HTTP/1.1 '.length);
  const head: AnswerHead = {
    status: Number.parseInt(statusText, 10),
    statusText,
    lines: '',
    length: undefined,
    type: '',
    etag: undefined,
    vary: undefined,
    isEncoded: false,
    mayTransform: true,
  };
  let isChunked = false;
  for (const line of lines) {
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).trim();
    switch (line.slice(0, colon).toLowerCase()) {
      case 'content-length':
        head.length = Number(value);
        continue;
      case 'transfer-encoding':
        isChunked = true;
        continue;
      case 'connection':
      case 'keep-alive':
        continue;
      case 'etag':
        head.etag = value;
        continue;
      case 'vary':
        head.vary = value;
        continue;
      case 'content-type':
        head.type = value.toLowerCase();
        break;
      case 'content-encoding':
        head.isEncoded = true;
        break;
      case 'cache-control':
        head.mayTransform = !value.includes('no-transform');
        break;
    }
    head.lines += `${line}\r\n`;
  }
  return [head, isChunked];
}
