/**
 * Follows the frames of a WebSocket in one direction (RFC 6455, 5.2) without touching what they
 * have: bytes are passed on as they come, and some numbers tell how far they are.
 */

export const Opcode = { Continuation: 0, Text: 1, Binary: 2, Close: 8, Ping: 9, Pong: 10 } as const;

const DATA: readonly number[] = [Opcode.Continuation, Opcode.Text, Opcode.Binary];
const CONTROL: readonly number[] = [Opcode.Close, Opcode.Ping, Opcode.Pong];

const MAX_CONTROL_BYTES = 125;

/** Close codes (RFC 6455, 7.4.1). */
export interface FrameFault {
  code: 1002 | 1009;
  reason: string;
}

export interface Frames {
  /** Returns the place behind the next frame that ends, or the end of the bytes. */
  next(bytes: Buffer, from: number): number;
  /** Opcode of the frame that has just ended. */
  readonly ended: number | undefined;
  /** Bytes of the frame that has just ended. */
  readonly size: number;
  readonly fault: FrameFault | undefined;
  /** Whether a frame has begun that is not complete. */
  readonly isInFrame: boolean;
  /** Bytes of the message that is not complete. */
  readonly unfinished: number;
  /** Whether a message or frame has begun that is not complete. */
  readonly isUnfinished: boolean;
}

/**
 * @param isMasked whether each frame must be masked: those of clients
 * @param maxBytes of a message
 */
export function createFrames(isMasked: boolean, maxBytes: number): Frames {
  /** Of the frame: the header as far as it was read, and how long it is, as far as is known. */
  const header: number[] = [];
  let headerBytes = 2;
  let length = 0;
  /** Of the payload. */
  let left = 0;
  /** Of a message in fragments, those that are complete. */
  let fragments = 0;
  let isFragmented = false;
  let ended: number | undefined;
  let fault: FrameFault | undefined;

  const first = () => header[0]!;
  const opcode = () => first() & 15;

  function readHeaderByte(byte: number): void {
    header.push(byte);
    if (header.length === 2) {
      const size = byte & 127;
      headerBytes = 2 + (size === 127 ? 8 : size === 126 ? 2 : 0) + (isMasked ? 4 : 0);
      if (byte >> 7 !== Number(isMasked)) fail(1002, isMasked ? 'not masked' : 'masked');
      else checkFirst(size);
    }
    if (header.length < headerBytes) return;
    const extended = header.slice(2, headerBytes - (isMasked ? 4 : 0));
    length =
      extended.length === 0 ? header[1]! & 127 : extended.reduce((sum, each) => sum * 256 + each);
    if (DATA.includes(opcode()) && fragments + length > maxBytes)
      fail(1009, `the message is longer than ${maxBytes} bytes`);
    left = length;
  }

  function checkFirst(size: number): void {
    const isFinal = first() >> 7 === 1;
    if ((first() & 0x70) !== 0) fail(1002, 'a reserved bit is set');
    else if (CONTROL.includes(opcode())) {
      if (!isFinal || size > MAX_CONTROL_BYTES)
        fail(1002, 'a control frame is long or in fragments');
    } else if (!DATA.includes(opcode())) fail(1002, 'an opcode is reserved');
    else if ((opcode() === Opcode.Continuation) !== isFragmented)
      fail(1002, 'fragments are not in order');
  }

  function fail(code: FrameFault['code'], reason: string): void {
    fault ??= { code, reason };
  }

  function endFrame(): void {
    ended = opcode();
    if (DATA.includes(ended)) {
      isFragmented = first() >> 7 === 0;
      fragments = isFragmented ? fragments + length : 0;
    }
    header.length = 0;
    headerBytes = 2;
  }

  return {
    next(bytes, from) {
      ended = undefined;
      let at = from;
      while (header.length < headerBytes) {
        if (at === bytes.length) return at;
        readHeaderByte(bytes[at]!);
        at += 1;
        if (fault !== undefined) return at;
      }
      const part = Math.min(left, bytes.length - at);
      left -= part;
      if (left === 0) endFrame();
      return at + part;
    },
    get ended() {
      return ended;
    },
    get size() {
      return length;
    },
    get fault() {
      return fault;
    },
    get isInFrame() {
      return header.length > 0;
    },
    get unfinished() {
      return fragments + (header.length === headerBytes ? length - left : 0);
    },
    get isUnfinished() {
      return header.length > 0 || isFragmented;
    },
  };
}

const MASKED = 0x80;
const FINAL = 0x80;

/** A Close frame. One of a client is masked with zeros. */
export function closeFrame(code: number, reason: string, isMasked: boolean): Buffer {
  const text = Buffer.from(reason).subarray(0, MAX_CONTROL_BYTES - 2);
  const length = 2 + text.length;
  const head = isMasked ? [length | MASKED, 0, 0, 0, 0] : [length];
  return Buffer.from([FINAL | Opcode.Close, ...head, code >> 8, code & 255, ...text]);
}
