/**
 * A WebSocket between a client and workerd. A client's messages are passed on when they are complete,
 * bounded by rate, size and time. After a Close frame of either side nothing of the client is passed
 * on but its own Close frame, and TCP ends within ten seconds (RFC 6455, 7.1.1).
 */
import type { Socket } from 'node:net';
import type { ClientPath } from '../../../src/platform/client-path.ts';
import { closeFrame, createMessages, type FrameFault, Opcode, readFrame } from './frames.ts';
import type { MessageTurns, Sender } from './message-turns.ts';
import { createPieces } from './pieces.ts';

/** As the broker: the longest message that it reads. */
export const MAX_MESSAGE_BYTES = 1 << 17;

/** Of a message in fragments, with their heads and the control frames between them. */
const MAX_FRAGMENTS_BYTES = 2 * MAX_MESSAGE_BYTES;

/** From the first byte of a message until it is complete, unless it waits for its turn. */
const MESSAGE_MS = 15_000;

/** From the first Close frame, of either side, until TCP has ended. */
const CLOSE_MS = 10_000;

const NEVER = Number.POSITIVE_INFINITY;

export interface TunnelOptions {
  client: ClientPath;
  socket: Socket;
  workerd: Socket;
  turns: MessageTurns;
  /** Milliseconds, never going back. */
  clock: () => number;
  /** To the client. */
  write: (bytes: Buffer) => void;
  /** Ends both sides at once, by a reset. */
  onLate: () => void;
  /** Called when `bytes` have changed. */
  onBytes: () => void;
}

export interface Tunnel {
  /** Messages that are not complete or wait for their turn, and what workerd has not read. */
  readonly bytes: number;
  fromClient(bytes: Buffer): void;
  fromWorkerd(bytes: Buffer): void;
  /** One of them sends no more. */
  onEnd(): void;
  look(now: number): void;
  /** The node ends. */
  goAway(): void;
  /** Frees what it has, when the sockets are closed. */
  end(): void;
}

export function openTunnel(options: TunnelOptions): Tunnel {
  const { socket, workerd, turns, clock, write, onLate, onBytes } = options;
  const messages = createMessages(MAX_MESSAGE_BYTES);
  /** Whole messages that wait for their turn, or one that is not complete. */
  const pieces = createPieces();
  /** Of these, where the next frame begins. */
  let at = 0;
  /** For its turn. */
  let isWaiting = false;
  let unfinishedAt = NEVER;
  let closeAt = NEVER;
  /** Whose Close frame was passed on. */
  let isClosedByClient = false;
  let isClosedByWorkerd = false;
  /** Of a frame of workerd: the head as far as it came, or how much of the rest is to come. */
  let head: Buffer | undefined;
  let left = 0;

  const sender: Sender = { client: options.client, credit: 1, go: pass };

  /** Nothing that the client sends is passed on from now on, but its Close frame. */
  function beginClose(): void {
    if (closeAt === NEVER) closeAt = clock() + CLOSE_MS;
    unfinishedAt = NEVER;
    turns.leave(sender);
    socket.resume();
  }

  function pass(): void {
    isWaiting = false;
    /** Behind the last message that is complete. */
    let end = 0;
    while (at < pieces.bytes.length && !isClosedByClient) {
      isWaiting = closeAt === NEVER && !messages.isInside && !turns.mayPass(sender);
      if (isWaiting) break;
      const frame = messages.next(pieces.bytes, at);
      if (frame === undefined) break;
      if ('code' in frame) {
        refuse(frame);
        return;
      }
      turns.pay(sender, frame.length);
      isClosedByClient = frame.opcode === Opcode.Close;
      // behind a Close frame of workerd only the answer to it is passed on
      if (isClosedByClient && closeAt !== NEVER) pieces.take(at);
      at = isClosedByClient && closeAt !== NEVER ? frame.end - at : frame.end;
      if (!messages.isInside || isClosedByClient) end = at;
      else if (at - end > MAX_FRAGMENTS_BYTES) {
        refuse({ code: 1009, reason: 'the message has too many frames' });
        return;
      }
    }
    passOn(end);
  }

  function passOn(end: number): void {
    const isOver = closeAt !== NEVER;
    const passed = pieces.take(end);
    at -= end;
    if (isClosedByClient) {
      pieces.take(pieces.bytes.length);
      beginClose();
      workerd.write(passed);
      if (isClosedByWorkerd) endBoth();
    } else if (!isOver) {
      const isFull = end > 0 && !workerd.write(passed);
      if (isFull) workerd.once('drain', () => isWaiting || socket.resume());
      if (isWaiting || isFull) socket.pause();
      else socket.resume();
      const isUnfinished = pieces.size > 0 && !isWaiting;
      unfinishedAt = isUnfinished ? Math.min(unfinishedAt, clock()) : NEVER;
    }
    onBytes();
  }

  function endBoth(): void {
    socket.end();
    workerd.end();
  }

  /** Closes it as an endpoint would that fails the connection (RFC 6455, 7.1.7). */
  function refuse({ code, reason }: FrameFault | { code: 1001 | 1008; reason: string }): void {
    beginClose();
    isClosedByClient = true;
    pieces.take(pieces.bytes.length);
    if (head === undefined && left === 0 && !isClosedByWorkerd) write(closeFrame(code, reason));
    isClosedByWorkerd = true;
    left = 0;
    socket.end();
    workerd.destroy();
    onBytes();
  }

  /** Returns the place behind a Close frame of workerd, or behind all. */
  function followWorkerd(piece: Buffer): number {
    const bytes = head === undefined ? piece : Buffer.concat([head, piece]);
    const before = bytes.length - piece.length;
    let to = left;
    head = undefined;
    while (to < bytes.length && !isClosedByWorkerd) {
      const frame = readFrame(bytes, to);
      if (frame === undefined) {
        head = Buffer.from(bytes.subarray(to));
        to = bytes.length;
      } else {
        to = frame.end;
        isClosedByWorkerd = frame.opcode === Opcode.Close;
      }
    }
    left = Math.max(0, to - bytes.length);
    return to - before;
  }

  return {
    get bytes() {
      return pieces.size + workerd.writableLength;
    },
    fromClient(bytes) {
      if (isClosedByClient) return;
      pieces.push(bytes);
      pass();
    },
    fromWorkerd(bytes) {
      if (isClosedByWorkerd && left === 0) return;
      const to = followWorkerd(bytes);
      write(to >= bytes.length ? bytes : bytes.subarray(0, to));
      if (!isClosedByWorkerd || left > 0) return;
      beginClose();
      if (isClosedByClient) endBoth();
    },
    onEnd() {
      beginClose();
      endBoth();
    },
    look(now) {
      if (now >= closeAt) onLate();
      else if (now - unfinishedAt >= MESSAGE_MS)
        refuse({ code: 1008, reason: 'the message did not arrive in time' });
    },
    goAway: () => refuse({ code: 1001, reason: 'the node is ending' }),
    end: () => turns.leave(sender),
  };
}
