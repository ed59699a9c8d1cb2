/**
 * A WebSocket between a client and workerd. Its frames are followed in both directions: what a
 * client sends is bounded by rate, size and time, and after a Close frame of either side nothing of
 * the client is passed on, and TCP ends within ten seconds (RFC 6455, 7.1.1).
 */
import type { Socket } from 'node:net';
import type { ClientPath } from '../../../src/platform/client-path.ts';
import { closeFrame, createFrames, Opcode } from './frames.ts';
import type { MessageTurns, Sender } from './message-turns.ts';

/** As the broker: the longest message that it reads. */
export const MAX_MESSAGE_BYTES = 1 << 17;

/** From the first byte of a message until it is complete, unless it waits for its turn. */
const MESSAGE_MS = 15_000;

/** From the first Close frame, of either side, until TCP has ended. */
const CLOSE_MS = 10_000;

/** A client that reads nothing for so long is gone. */
const UNREAD_MS = 60_000;

const NORMAL = 1000;

const NEVER = Number.POSITIVE_INFINITY;

const EMPTY = Buffer.alloc(0);

export interface TunnelOptions {
  client: ClientPath;
  socket: Socket;
  workerd: Socket;
  turns: MessageTurns;
  /** Milliseconds, never going back. */
  clock: () => number;
  /** Ends both sides at once, by a reset. */
  onLate: () => void;
  /** Called when `bytes` have changed. */
  onBytes: () => void;
}

export interface Tunnel {
  /** Messages that are not complete or wait for their turn, and what is not read on either side. */
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
  const { socket, workerd, turns, clock, onLate, onBytes } = options;
  const sent = createFrames(true, MAX_MESSAGE_BYTES);
  const told = createFrames(false, NEVER);
  /** What waits for its turn. */
  let held: Buffer = EMPTY;
  let unfinishedAt = NEVER;
  let unreadAt = NEVER;
  let closeAt = NEVER;
  /** Whose Close frame was passed on. */
  let isClosedByClient = false;
  let isClosedByWorkerd = false;

  const sender: Sender = { client: options.client, credit: 1, go: () => pass(EMPTY) };

  /** Nothing that the client sends is passed on from now on. */
  function beginClose(): void {
    if (closeAt === NEVER) closeAt = clock() + CLOSE_MS;
    unfinishedAt = NEVER;
    held = EMPTY;
    turns.leave(sender);
    socket.resume();
  }

  function pass(more: Buffer): void {
    const bytes = held.length === 0 ? more : more.length === 0 ? held : Buffer.concat([held, more]);
    held = EMPTY;
    let from = 0;
    while (from < bytes.length) {
      if (!sent.isInFrame && !turns.mayPass(sender)) {
        held = bytes.subarray(from);
        socket.pause();
        break;
      }
      from = sent.next(bytes, from);
      if (sent.fault !== undefined) {
        const { code, reason } = sent.fault;
        refuse(code, reason);
        return;
      }
      if (sent.ended === undefined) break;
      turns.pay(sender, sent.size);
      if (sent.ended === Opcode.Close) {
        workerd.write(bytes.subarray(0, from));
        isClosedByClient = true;
        beginClose();
        return;
      }
    }
    if (from > 0 && !workerd.write(from === bytes.length ? bytes : bytes.subarray(0, from))) {
      socket.pause();
      workerd.once('drain', () => held.length === 0 && socket.resume());
    } else if (held.length === 0) socket.resume();
    unfinishedAt = sent.isUnfinished && held.length === 0 ? Math.min(unfinishedAt, clock()) : NEVER;
    onBytes();
  }

  /** Closes it as an endpoint would that fails the connection (RFC 6455, 7.1.7). */
  function refuse(code: number, reason: string): void {
    beginClose();
    if (!told.isInFrame) socket.write(closeFrame(code, reason, false));
    isClosedByWorkerd = true;
    socket.end();
    // the broker must not wait for the rest of a message
    workerd.destroy();
    onBytes();
  }

  function answerClose(): void {
    // in the middle of a frame no other may begin
    if (sent.isInFrame) workerd.destroy();
    else workerd.end(closeFrame(NORMAL, '', true));
  }

  return {
    get bytes() {
      const unfinished = sent.isUnfinished && closeAt === NEVER ? sent.unfinished : 0;
      const waiting = held.length === 0 ? 0 : held.buffer.byteLength;
      return unfinished + waiting + workerd.writableLength + socket.writableLength;
    },
    fromClient(bytes) {
      if (closeAt === NEVER) {
        pass(bytes);
        return;
      }
      if (isClosedByClient || sent.fault !== undefined) return;
      // of what comes after a Close frame of the broker, the answer to it counts
      for (let from = 0; from < bytes.length && sent.fault === undefined; ) {
        from = sent.next(bytes, from);
        if (sent.ended !== Opcode.Close) continue;
        isClosedByClient = true;
        answerClose();
        socket.end();
        return;
      }
    },
    fromWorkerd(bytes) {
      if (isClosedByWorkerd) return;
      let to = 0;
      while (to < bytes.length && !isClosedByWorkerd) {
        to = told.next(bytes, to);
        isClosedByWorkerd = told.ended === Opcode.Close;
      }
      if (!socket.write(to === bytes.length ? bytes : bytes.subarray(0, to))) {
        workerd.pause();
        unreadAt = Math.min(unreadAt, clock() + UNREAD_MS);
        socket.once('drain', () => {
          unreadAt = NEVER;
          workerd.resume();
          onBytes();
        });
        onBytes();
      }
      if (!isClosedByWorkerd) return;
      const wasClosed = isClosedByClient;
      beginClose();
      if (!wasClosed) return;
      socket.end();
      workerd.end();
    },
    onEnd() {
      beginClose();
      socket.end();
      workerd.end();
    },
    look(now) {
      if (now >= closeAt || now >= unreadAt) onLate();
      else if (now - unfinishedAt >= MESSAGE_MS) refuse(1008, 'the message did not arrive in time');
    },
    goAway: () => refuse(1001, 'the node is ending'),
    end: () => turns.leave(sender),
  };
}
