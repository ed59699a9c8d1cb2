/**
 * A WebSocket between a client and workerd. A client's messages are passed on when they are complete,
 * bounded by rate, size and time. After a Close frame of either side nothing of the client is passed
 * on, and TCP ends within ten seconds (RFC 6455, 7.1.1).
 */
import type { Socket } from 'node:net';
import type { ClientPath } from '../../../src/platform/client-path.ts';
import type { ClosingTunnels } from './closing-tunnels.ts';
import { closeFrame, createMessages, Opcode, readFrame } from './frames.ts';
import type { MessageTurns, Sender } from './message-turns.ts';
import { createPieces } from './pieces.ts';

/** As the broker: the longest message that it reads. */
export const MAX_MESSAGE_BYTES = 1 << 17;

/** Of one message, with the control frames between: each takes a microsecond here and in workerd. */
export const MAX_FRAMES = 256;

/** From the first byte of a message until it is complete, unless it waits for its turn. */
const MESSAGE_MS = 15_000;

/** From the first Close frame, of either side, until TCP has ended. */
const CLOSE_MS = 10_000;

/** What workerd is answered when it closes: it need not wait for the client. */
const CLOSE_ANSWER = Buffer.from([0x80 | Opcode.Close, 0x80, 0, 0, 0, 0]);

/** What workerd takes for each, outside of V8: 80 KB, with three topics 107. */
const WORKERD_BYTES = 110 * 1024;

const NEVER = Number.POSITIVE_INFINITY;

export interface TunnelOptions {
  client: ClientPath;
  socket: Socket;
  workerd: Socket;
  closing: ClosingTunnels;
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

export type Tunnel = ReturnType<typeof openTunnel>;

export function openTunnel(options: TunnelOptions) {
  const { client, socket, workerd, closing, turns, clock, write, onLate, onBytes } = options;
  const messages = createMessages(MAX_MESSAGE_BYTES);
  /** Whole messages that wait for their turn, or one that is not complete. */
  const pieces = createPieces();
  /** Of these, where the next frame begins. */
  let at = 0;
  /** Of a message that is not complete. */
  let frames = 0;
  /** For its turn. */
  let isWaiting = false;
  let unfinishedAt = NEVER;
  /** After a Close frame of either side. */
  let closeAt = NEVER;
  /** Nothing is passed on in either direction. */
  let isOver = false;
  /** Of workerd's next frame: the head as far as it came. */
  let head: Buffer | undefined;
  /** Of its last frame: what is to come, and whether the client gets it. */
  let left = 0;
  let opcode: number | undefined;
  let isDropped = false;

  const sender: Sender = { client, credit: 1, go: pass };

  /** Nothing that the client sends is passed on from now on. */
  function stopReading(): void {
    if (closeAt === NEVER) closeAt = clock() + CLOSE_MS;
    unfinishedAt = NEVER;
    pieces.take();
    turns.leave(sender);
    socket.resume();
    workerd.resume();
  }

  function pass(): void {
    isWaiting = false;
    let isClosed = false;
    /** Behind the last message that is complete. */
    let end = 0;
    while (at < pieces.bytes.length && !isClosed) {
      isWaiting = !messages.isInside && !turns.mayPass(sender);
      const frame = isWaiting ? undefined : messages.next(pieces.bytes, at);
      if (frame === undefined) break;
      if ('code' in frame) {
        refuse(frame.code, frame.reason);
        return;
      }
      turns.pay(sender, frame.length);
      at = frame.end;
      isClosed = frame.opcode === Opcode.Close;
      if (!messages.isInside || isClosed) end = at;
      frames = messages.isInside ? frames + 1 : 0;
      if (frames >= MAX_FRAMES) {
        refuse(1009, 'too many fragments');
        return;
      }
    }
    at -= end;
    const isFull = end > 0 && !workerd.write(pieces.take(end));
    if (isClosed) stopReading();
    else {
      if (isFull) workerd.once('drain', () => isWaiting || socket.resume());
      if (isWaiting || isFull) socket.pause();
      else socket.resume();
      const isUnfinished = pieces.size > 0 && !isWaiting;
      // what is behind a whole message has just come
      if (end > 0 || !isUnfinished) unfinishedAt = NEVER;
      if (isUnfinished) unfinishedAt = Math.min(unfinishedAt, clock());
    }
    onBytes();
  }

  /** Closes it as an endpoint would that fails the connection (RFC 6455, 7.1.7). */
  function refuse(code: number, reason: string): void {
    if (left === 0) write(closeFrame(code, reason));
    endBoth();
  }

  /** Tells workerd, unless it has heard a Close frame or said one that was answered. */
  function endBoth(): void {
    if (closeAt === NEVER) workerd.write(CLOSE_ANSWER);
    isOver = true;
    stopReading();
    socket.end();
    workerd.end();
    onBytes();
  }

  /**
   * Passes frames of workerd on. Behind a Close frame of the client it gets workerd's alone: data that
   * it would not read is taken from workerd, which would hold it.
   */
  function fromWorkerd(piece: Buffer): void {
    if (isOver) return;
    const bytes = head === undefined ? piece : Buffer.concat([head, piece]);
    let [from, at] = [0, 0];
    while (at < bytes.length && (left > 0 || opcode !== Opcode.Close)) {
      if (left === 0) {
        const frame = readFrame(bytes, at);
        if (frame === undefined) break;
        opcode = frame.opcode;
        left = frame.end - at;
        isDropped = closeAt !== NEVER && opcode !== Opcode.Close;
      }
      const part = Math.min(left, bytes.length - at);
      if (isDropped && at > from) write(bytes.subarray(from, at));
      left -= part;
      at += part;
      if (isDropped) from = at;
    }
    if (at > from) write(bytes.subarray(from, at));
    head = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined;
    if (closeAt !== NEVER) workerd.resume();
    if (opcode === Opcode.Close && left === 0) endBoth();
  }

  return {
    /** Workerd's, messages that are not complete or wait for their turn, and what it has not read. */
    get bytes() {
      const ofWorkerd = workerd.destroyed ? 0 : WORKERD_BYTES;
      return ofWorkerd + pieces.size + workerd.writableLength;
    },
    fromClient(bytes: Buffer): void {
      if (closeAt !== NEVER) return;
      pieces.push(bytes);
      pass();
    },
    fromWorkerd,
    /** One of them sends no more. */
    onEnd: endBoth,
    look(now: number): void {
      if (now >= closeAt) onLate();
      else if (now - unfinishedAt >= MESSAGE_MS) refuse(1008, 'the message did not arrive in time');
    },
    /** The node ends. */
    goAway: () => isOver || refuse(1001, 'the node is ending'),
    /** The client has gone: once. */
    end(): void {
      endBoth();
      if (workerd.destroyed) return;
      closing.add(client);
      workerd.once('close', () => closing.remove(client));
      workerd.resume();
    },
  };
}
