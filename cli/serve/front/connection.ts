/**
 * One client's connection: reads its requests, passes each on when it is its turn, and passes back
 * what workerd answers. One request at a time; those behind it wait in the socket.
 */
import { connect, type Socket } from 'node:net';
import { clientKey } from '../../../src/http/access/client-address.ts';
import { type ErrorStatus, HttpError } from '../../../src/http/errors.ts';
import { clientPath } from '../../../src/platform/client-path.ts';
import { writeLimitedLog } from '../../../src/platform/log.ts';
import { STARTING } from '../../lib/process/notify-systemd.ts';
import { createAnswer, SWITCHING } from './answer.ts';
import type { ClosingTunnels } from './closing-tunnels.ts';
import type { FairQueue, Queued } from './fair-queue.ts';
import { kernelName } from './kernel-queues.ts';
import type { MessageTurns } from './message-turns.ts';
import { refusalBytes } from './refusal.ts';
import type { RequestHead } from './request-head.ts';
import { createRequestReader } from './request-reader.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';

/** From the connection, or from the first byte of a request, until the request is complete. */
const REQUEST_MS = 15_000;

/** Between an answer and the next request: above the 60 s of nginx, so that nginx closes first. */
const IDLE_MS = 65_000;

/** After an answer, until the connection to workerd is closed: in workerd it takes 20 to 26 KB. */
const WORKERD_IDLE_MS = 1000;

/** From the request's end, while workerd is away: it takes one to three seconds to start. */
const HOLD_MS = 10_000;

/** To read {@link MAX_UNREAD_BYTES} or a compressed answer: Node tells when all of it was taken. */
const UNREAD_MS = 60_000;

/** For workerd to answer a request whose client has gone. */
const ABANDONED_MS = 60_000;

/** For a client to read the words of a refusal and close its side. */
const LINGER_MS = 2000;

/** Bytes that wait in memory behind a request that is not answered yet. */
const MAX_AHEAD_BYTES = 16 * 1024;

/** Of an answer, in this process. More stays in workerd. */
const MAX_UNREAD_BYTES = 512 * 1024;

/** What this process takes for each, with its connection to workerd: 7 to 13 KB. */
const CONNECTION_BYTES = 10 * 1024;

/** In the kernel, beside the open connections: it keeps that for minutes, and nothing takes it back. */
const MAX_LEFT_BYTES = 16 * 1024 * 1024;

/** A request that was lost as often with a new connection to workerd may be what ends workerd. */
const MAX_TRIES = 3;

/** A process that was killed accepts connections until the last of its sockets is closed. */
const RETRY_AFTER_MS = 50;

/** What workerd sends is read into it: for each read Node would allocate as much. */
const PIECE = Buffer.allocUnsafeSlow(64 * 1024);

const NEVER = Number.POSITIVE_INFINITY;

/** What all connections share. */
export interface Shared {
  readonly queue: FairQueue;
  readonly closing: ClosingTunnels;
  readonly turns: MessageTurns;
  /** Milliseconds, never going back. */
  readonly clock: () => number;
  /** Where workerd listens, each start of it at another port; undefined while it is being started. */
  target: URL | undefined;
  /** What the kernel holds of connections that are closed, or not accepted yet. */
  leftBytes: number;
  /** Called when so many bytes more are held, or fewer. */
  count(held: number): void;
  /** Called when so many bytes were sent, which the kernel may hold. */
  countSent(bytes: number): void;
  onClose(connection: Connection): void;
}

export interface Connection extends Queued {
  /** `idle`: without a complete request. `waiting`: for its turn or the answer. */
  state: 'idle' | 'waiting' | 'tunnel';
  /** What all processes and the kernel hold for it. */
  bytes: number;
  /** Its name in the lists of the kernel. */
  readonly kernelName: string;
  setKernelBytes(bytes: number): void;
  /** Closes it if it is late. `now` in milliseconds. */
  look(now: number): void;
  /** Takes no request after the next one, and none that begins after `idleUntil`. */
  drain(idleUntil: number): void;
  /** At once, by a reset: nothing is held for it any more. */
  reset(): void;
}

/** @param isProxy whether X-Forwarded-For of the other end is believed */
export function openConnection(socket: Socket, isProxy: boolean, shared: Shared): Connection {
  const { queue, closing, clock } = shared;
  const peer = socket.remoteAddress!;
  const reader = createRequestReader(peer, isProxy);
  const answer = createAnswer({ write, onHead: beginAnswer, onEnd: endAnswer });
  const connection: Connection = {
    client: clientPath(clientKey(peer)),
    isWhiteFlag: false,
    start: passOn,
    state: 'idle',
    bytes: 0,
    kernelName: kernelName(peer, socket.remotePort ?? 0),
    setKernelBytes(bytes) {
      kernelBytes = bytes;
      countBytes();
    },
    look,
    drain,
    reset,
  };
  let lateAt = clock() + REQUEST_MS;
  let unreadAt = NEVER;
  let workerd: Socket | undefined;
  /** Complete and not answered yet. */
  let request: RequestHead | undefined;
  /** Whether it is on its way to workerd. */
  let isPassed = false;
  /** How often it was sent on a new connection: workerd may have closed an older one already. */
  let tries = 0;
  let tunnel: Tunnel | undefined;
  /** When the kernel was asked. */
  let kernelBytes = 0;
  /** The answer is the last one. */
  let isLast = false;
  /** Nothing more is read or passed on. */
  let isEnding = false;

  function look(now: number): void {
    countBytes();
    if (connection.state === 'idle' && now >= lateAt - IDLE_MS + WORKERD_IDLE_MS)
      workerd?.destroy();
    if (now >= unreadAt) reset();
    else if (tunnel !== undefined) tunnel.look(now);
    // a slow reader has the time of `unreadAt`
    else if (now < lateAt || unreadAt < NEVER) return;
    else if (isEnding) reset();
    else if (connection.state === 'idle') {
      if (reader.isInside) refuse(400, 'the request did not arrive in time');
      else close();
    }
    // where workerd is there, the request waits for its turn or for the answer
    else if (shared.target === undefined && !answer.hasBegun) refuse(503, STARTING);
  }

  function drain(idleUntil: number): void {
    isLast = true;
    tunnel?.goAway();
    if (connection.state === 'idle') lateAt = Math.min(lateAt, idleUntil);
    else if (request !== undefined && shared.target === undefined)
      refuse(503, 'the node is ending');
  }

  /** Workerd goes on with it though its client goes, so it keeps its place until it is answered. */
  const isUnderWay = () =>
    isPassed && workerd?.destroyed === false && !answer.hasBegun && !answer.isRead;

  function end(): void {
    isEnding = true;
    if (!isUnderWay()) queue.leave(connection);
    if (!isUnderWay() && tunnel === undefined) workerd?.destroy();
    shared.count(-connection.bytes);
    connection.bytes = 0;
  }

  function reset(): void {
    // while FIN is on its way libuv refuses, and Node 26 loses the descriptor for good
    const isShutting = socket.writableEnded && !socket.writableFinished && !socket.writableLength;
    if (isShutting) socket.once('finish', () => socket.resetAndDestroy());
    else socket.resetAndDestroy();
    end();
  }

  /** Without a reset where the client has all that was sent. */
  function close(): void {
    if (!isLast && (kernelBytes > 0 || socket.writableLength > 0)) reset();
    else socket.destroy();
  }

  /** To the client: bytes, or latin1. */
  function write(bytes: Buffer | string): void {
    if (isEnding) return;
    shared.countSent(bytes.length);
    if (socket.write(bytes as string, 'latin1')) return;
    unreadAt = Math.min(unreadAt, clock() + UNREAD_MS);
    if (tunnel !== undefined || socket.writableLength > MAX_UNREAD_BYTES) workerd?.pause();
    countBytes();
  }

  function countBytes(): void {
    if (socket.destroyed) return;
    const own = CONNECTION_BYTES + reader.bytes + (request?.text.length ?? 0) + answer.bytes;
    const now = own + (tunnel?.bytes ?? 0) + socket.writableLength + kernelBytes;
    const change = now - connection.bytes;
    connection.bytes = now;
    if (change !== 0) shared.count(change);
  }

  /** Answers instead of workerd, and closes the connection when that is sent. */
  function refuse(status: ErrorStatus, detail?: string, headers?: Record<string, string>): void {
    queue.leave(connection);
    isEnding = true;
    workerd?.destroy();
    socket.end(refusalBytes(new HttpError(status, detail, headers), reader.isHead));
    // what the client still sends is read and dropped, or its end would not see the answer
    socket.resume();
    lateAt = clock() + LINGER_MS;
  }

  function readRequest(): void {
    let next: RequestHead | undefined;
    try {
      next = reader.next();
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      refuse(error.status, error.detail, error.headers);
    }
    if (next === undefined) {
      countBytes();
      if (reader.takeExpectation()) write('HTTP/1.1 100 Continue\r\n\r\n');
      return;
    }
    request = next;
    isLast ||= next.isLast;
    tries = 0;
    countBytes();
    // this client may have held most
    if (isEnding) return;
    connection.client = clientPath(clientKey(next.address));
    connection.isWhiteFlag = next.isWhiteFlag;
    if (next.isUpgrade && !closing.mayOpen(connection.client)) {
      refuse(503, 'too many WebSockets of this client are being closed');
      return;
    }
    connection.state = 'waiting';
    lateAt = clock() + HOLD_MS;
    queue.enter(connection);
  }

  function passOn(): void {
    isPassed = true;
    if (workerd === undefined) {
      tries += 1;
      workerd = connectWorkerd(shared.target!);
    }
    answer.expect(request!);
    workerd.write(request!.text, 'latin1');
  }

  function connectWorkerd(to: URL): Socket {
    const [host, port] = [to.hostname, Number(to.port)];
    const callback = (length: number): boolean => {
      const piece = Buffer.from(PIECE.subarray(0, length));
      if (workerd === opened && (!isEnding || isUnderWay())) readAnswer(opened, piece);
      return true;
    };
    const onread = { buffer: PIECE, callback };
    const opened = connect({ host, port, noDelay: true, allowHalfOpen: true, onread });
    opened.on('end', () => opened.end());
    opened.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') {
        tries -= 1;
        if (shared.target === to) shared.target = undefined;
      }
      opened.destroy();
    });
    opened.on('close', () => {
      if (workerd === opened) loseWorkerd();
    });
    return opened;
  }

  function readAnswer(from: Socket, bytes: Buffer): void {
    try {
      const rest = tunnel === undefined ? answer.push(bytes) : bytes;
      if ((isEnding || rest !== undefined) && tunnel === undefined) from.destroy();
      if (rest !== undefined) (tunnel as Tunnel | undefined)?.fromWorkerd(rest);
    } catch (error) {
      writeLimitedLog('error', 'serve.answer-malformed', { error: (error as Error).message });
      from.destroy();
      if (answer.hasBegun) reset();
      else refuse(500);
    }
    if (request !== undefined) countBytes();
  }

  /** Its side of the connection was closed, or workerd has died. */
  function loseWorkerd(): void {
    workerd = undefined;
    if (isEnding) queue.leave(connection);
    else if (tunnel !== undefined) tunnel.onEnd();
    // a request that waits for its turn gets another connection
    else if (!isPassed || answer.isRead) return;
    // the client must see that its answer was broken off
    else if (answer.hasBegun) reset();
    else {
      isPassed = false;
      queue.leave(connection);
      // no request changes anything, so it can be sent again
      if (tries === MAX_TRIES) refuse(503, STARTING);
      else if (tries === 0) queue.enter(connection);
      else setTimeout(() => isEnding || queue.enter(connection), RETRY_AFTER_MS);
    }
  }

  function beginAnswer(): boolean {
    queue.leave(connection);
    return isLast && !request!.isUpgrade;
  }

  function beginTunnel(): void {
    connection.state = 'tunnel';
    const ends = { client: connection.client, socket, workerd: workerd! };
    tunnel = openTunnel({ ...shared, ...ends, write, onLate: reset, onBytes: countBytes });
    const rest = reader.takeRest();
    if (rest.length > 0) tunnel.fromClient(rest);
    else socket.resume();
    countBytes();
  }

  /** The client's connection has all of the answer. */
  function endAnswer(status: number): void {
    if (isEnding && status !== SWITCHING) return;
    request = undefined;
    if (status === SWITCHING) {
      beginTunnel();
      if (socket.closed) tunnel!.end();
      else if (socket.readableEnded) tunnel!.onEnd();
      return;
    }
    isPassed = false;
    connection.state = 'idle';
    countBytes();
    if (isEnding) return;
    if (isLast) {
      isEnding = true;
      workerd?.destroy();
      socket.end();
      socket.resume();
      lateAt = clock() + UNREAD_MS;
    } else if (!socket.writableNeedDrain) readOn();
  }

  /** The next request may have come meanwhile. */
  function readOn(): void {
    lateAt = clock() + (reader.isInside ? REQUEST_MS : IDLE_MS);
    socket.resume();
    if (reader.isInside) readRequest();
  }

  socket.on('data', (bytes: Buffer) => {
    // behind `Connection: close` nothing is read (RFC 9112, 9.6)
    if (isEnding || request?.isLast) return;
    if (tunnel !== undefined) return tunnel.fromClient(bytes);
    if (connection.state === 'idle' && !reader.isInside) lateAt = clock() + REQUEST_MS;
    reader.push(bytes);
    if (connection.state === 'idle' && !socket.writableNeedDrain) readRequest();
    else {
      countBytes();
      if (reader.bytes > MAX_AHEAD_BYTES) socket.pause();
    }
  });
  socket.on('drain', () => {
    unreadAt = NEVER;
    workerd?.resume();
    countBytes();
    if (!isEnding && connection.state === 'idle') readOn();
  });
  socket.on('end', () => {
    isLast = true;
    // once both sides have ended, the kernel keeps what is unread
    if (shared.leftBytes > MAX_LEFT_BYTES) reset();
    else if (tunnel !== undefined) tunnel.onEnd();
    else if (request === undefined) socket.end();
    else if (!isPassed) close();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    end();
    tunnel?.end();
    shared.onClose(connection);
    if (!isUnderWay()) return;
    // bytes are not counted from now on
    request!.text = '';
    const late = setTimeout(() => isUnderWay() && workerd!.destroy(), ABANDONED_MS).unref();
    workerd!.once('close', () => clearTimeout(late));
  });
  countBytes();
  return connection;
}
