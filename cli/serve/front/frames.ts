/**
 * Frames of a WebSocket (RFC 6455, 5.2), read where they are: nothing is copied or unmasked.
 */

export const Opcode = { Continuation: 0, Text: 1, Binary: 2, Close: 8, Ping: 9, Pong: 10 } as const;

const isControl = (opcode: number) => opcode >= Opcode.Close;
const isReserved = (opcode: number) => (opcode & 7) > 2;

const MAX_CONTROL_BYTES = 125;

const MASK_BYTES = 4;

export interface Frame {
  opcode: number;
  isFinal: boolean;
  hasReservedBits: boolean;
  isMasked: boolean;
  /** Of the payload. */
  length: number;
  /** The place behind it. */
  end: number;
}

/** The frame that begins there; undefined where its head is not complete. */
export function readFrame(bytes: Buffer, at: number): Frame | undefined {
  if (bytes.length < at + 2) return undefined;
  const [first, second] = [bytes[at]!, bytes[at + 1]!];
  const isMasked = second >> 7 === 1;
  let length = second & 127;
  const extended = length === 127 ? 8 : length === 126 ? 2 : 0;
  const head = 2 + extended + (isMasked ? MASK_BYTES : 0);
  if (bytes.length < at + head) return undefined;
  if (extended === 2) length = bytes.readUInt16BE(at + 2);
  if (extended === 8) length = Number(bytes.readBigUInt64BE(at + 2));
  const [opcode, isFinal, hasReservedBits] = [first & 15, first >> 7 === 1, (first & 0x70) !== 0];
  return { opcode, isFinal, hasReservedBits, isMasked, length, end: at + head + length };
}

/** With a close code (RFC 6455, 7.4.1). */
export interface FrameFault {
  code: 1002 | 1009;
  reason: string;
}

/** Reads what a client sends. @param maxBytes of a message */
export function createMessages(maxBytes: number) {
  /** Bytes of the fragments that were read. */
  let fragments = 0;
  let isInside = false;

  function findFault(frame: Frame): FrameFault | undefined {
    const { opcode, isFinal, hasReservedBits, isMasked, length } = frame;
    const wrong = (reason: string): FrameFault => ({ code: 1002, reason });
    if (!isMasked) return wrong('not masked');
    if (hasReservedBits) return wrong('a reserved bit is set');
    if (isReserved(opcode)) return wrong('an opcode is reserved');
    if (isControl(opcode)) {
      const isRight = isFinal && length <= MAX_CONTROL_BYTES;
      return isRight ? undefined : wrong('a control frame is long or in fragments');
    }
    if ((opcode === Opcode.Continuation) !== isInside) return wrong('fragments are not in order');
    if (fragments + length <= maxBytes) return undefined;
    return { code: 1009, reason: `the message is longer than ${maxBytes} bytes` };
  }

  return {
    /** The frame that begins there; undefined where it is not complete. Each is read once. */
    next(bytes: Buffer, at: number): Frame | FrameFault | undefined {
      const frame = readFrame(bytes, at);
      if (frame === undefined) return undefined;
      const fault = findFault(frame);
      if (fault !== undefined) return fault;
      if (frame.end > bytes.length) return undefined;
      if (!isControl(frame.opcode)) {
        isInside = !frame.isFinal;
        fragments = isInside ? fragments + frame.length : 0;
      }
      return frame;
    },
    /** Whether a message has begun of which not all fragments were read. */
    get isInside() {
      return isInside;
    },
  };
}

const FINAL = 0x80;

/** A Close frame of a server. */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason).subarray(0, MAX_CONTROL_BYTES - 2);
  return Buffer.from([FINAL | Opcode.Close, 2 + text.length, code >> 8, code & 255, ...text]);
}
