/**
 * One client's connection: reads its requests, passes each on when it is its turn, and passes back
 * what workerd answers. One request at a time; those behind it wait in the socket.
 */
import { connect, type Socket } from 'node:net';
import { type ClientPath, clientPath } from '../../../src/client-path.ts';
import { clientKey } from '../../../src/http/access/client-address.ts';
import { writeLog } from '../../../src/log.ts';
import { type AnswerHead, createAnswerReader, SWITCHING } from './answer-reader.ts';
import { createAnswerWriter } from './answer-writer.ts';
import type { Compression } from './compression.ts';
import type { FairQueue, Queued } from './fair-queue.ts';
import { kernelName } from './kernel-queues.ts';
import type { MessageTurns } from './message-turns.ts';
import { refusalBytes } from './refusal.ts';
import type { HeadRefusal } from './request-head.ts';
import { createRequestReader, type FrontRequest } from './request-reader.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';
import type { TunnelLimit } from './tunnel-limit.ts';

/** From the connection, or from the first byte of a request, until the request is complete. */
const REQUEST_MS = 15_000;

/** Between an answer and the next request: above the 60 s of nginx, so that nginx closes first. */
const IDLE_MS = 65_000;

/** From the request's end, while workerd is away: it takes one to three seconds to start. */
const HOLD_MS = 10_000;

/** A client that reads nothing for so long is gone. */
const UNREAD_MS = 60_000;

/** For a client to read the words of a refusal and close its side. */
const LINGER_MS = 2000;

/** Bytes that wait in memory behind a request that is not answered yet. */
const MAX_AHEAD_BYTES = 16 * 1024;

/** Of an answer, in this process. More stays in workerd. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** What Linux keeps of one connection at most (tcp_wmem). */
const MAX_KERNEL_BYTES = 4 * 1024 * 1024;

/** A request that was lost as often with a new connection to workerd may be what ends workerd. */
const MAX_TRIES = 3;

/** A process that was killed accepts connections until the last of its sockets is closed. */
const RETRY_AFTER_MS = 50;

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

const NEVER = Number.POSITIVE_INFINITY;

/**
 * `silent`: no complete request yet. `idle`: between two. `waiting`: for its turn or the answer.
 * `upgrading`: the same, and the answer may be 101. `tunnel`: it was.
 */
type State = 'silent' | 'idle' | 'waiting' | 'upgrading' | 'tunnel';

/** Where workerd listens. Each start of it has one of its own. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface Connection {
  readonly client: ClientPath;
  readonly state: State;
  /** What all processes and the kernel hold for it. */
  readonly bytes: number;
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

export interface ConnectionOptions {
  socket: Socket;
  /** Whether X-Forwarded-For of the other end is believed. */
  isProxy: boolean;
  /** Open while there is a target. */
  queue: FairQueue;
  tunnels: TunnelLimit;
  turns: MessageTurns;
  compression: Compression;
  /** Undefined while workerd is being started. */
  target: () => Target | undefined;
  /** Nobody listens there. */
  onRefused: (target: Target) => void;
  /** Milliseconds, never going back. */
  clock: () => number;
  /** Called when `bytes` are more by `change`, or fewer. */
  onBytes: (change: number) => void;
  /** Called with bytes that the kernel gets. */
  onSent: (bytes: number) => void;
  onClose: (connection: Connection) => void;
}

export function openConnection(options: ConnectionOptions): Connection {
  const { socket, isProxy, queue, tunnels, turns, compression, target, clock } = options;
  const peer = socket.remoteAddress ?? '';
  const port = socket.remotePort ?? 0;
  const reader = createRequestReader(peer, isProxy);
  let address = peer;
  const queued: Queued & { client: ClientPath; isWhiteFlag: boolean } = {
    client: clientPath(clientKey(peer)),
    isWhiteFlag: false,
    start: passOn,
  };
  let state: State = 'silent';
  let lateAt = clock() + REQUEST_MS;
  /** Whether it is counted as a WebSocket. */
  let isCounted = false;
  let unreadAt = NEVER;
  let workerd: Socket | undefined;
  /** Complete and not answered yet. */
  let request: FrontRequest | undefined;
  /** Whether it is on its way to workerd. */
  let isPassed = false;
  /** How often it was sent on a new connection: workerd may have closed an older one already. */
  let tries = 0;
  let tunnel: Tunnel | undefined;
  let bytes = 0;
  let kernelBytes = 0;
  let isInside = false;
  /** The answer is the last one. */
  let isLast = false;
  /** Nothing more is read or passed on. */
  let isEnding = false;
  const writer = createAnswerWriter({
    socket,
    compression,
    onSent: countSent,
    onEnd: endAnswer,
  });
  const answer = createAnswerReader({
    onHead: beginAnswer,
    onBody: writer.write,
    onEnd: () => tunnel ?? writer.end(),
  });

  const connection: Connection = {
    get client() {
      return queued.client;
    },
    get state() {
      return state;
    },
    get bytes() {
      return bytes;
    },
    get kernelName() {
      return kernelName(peer, port);
    },
    setKernelBytes(now) {
      kernelBytes = now;
      countBytes();
    },
    look(now) {
      countBytes();
      if (now >= unreadAt) reset();
      else if (tunnel !== undefined) tunnel.look(now);
      else if (now < lateAt) return;
      else if (isEnding) reset();
      else if (request === undefined && reader.isInside)
        refuse({ status: 400, detail: 'the request did not arrive in time' });
      else if (request === undefined) close();
      // where workerd is there, the request waits for its turn or for the answer
      else if (target() === undefined) refuse({ status: 503, detail: 'the node is starting' });
    },
    drain(idleUntil) {
      isLast = true;
      tunnel?.goAway();
      if (isReading()) lateAt = Math.min(lateAt, idleUntil);
      else if (request !== undefined && target() === undefined)
        refuse({ status: 503, detail: 'the node is ending' });
    },
    reset,
  };

  const isReading = () => state === 'silent' || state === 'idle';

  function end(closeSocket: () => void): void {
    isEnding = true;
    closeSocket();
    workerd?.destroy();
    options.onBytes(-bytes);
    bytes = 0;
  }

  function reset(): void {
    end(() => socket.resetAndDestroy());
  }

  /** Without a reset where the client has all that was sent. */
  function close(): void {
    if (!isLast && (kernelBytes > 0 || socket.writableLength > 0)) reset();
    else end(() => socket.destroy());
  }

  function uncount(): void {
    if (isCounted) tunnels.close(queued.client, state === 'tunnel' || isPassed);
    isCounted = false;
  }

  /** The kernel may have all of it until it is asked. */
  function countSent(sent: number): void {
    if (kernelBytes < MAX_KERNEL_BYTES) kernelBytes += sent;
    options.onSent(sent);
  }

  function countBytes(): void {
    if (socket.destroyed) return;
    const now =
      reader.bytes + (request?.bytes ?? 0) + writer.bytes + (tunnel?.bytes ?? 0) + kernelBytes;
    const change = now - bytes;
    bytes = now;
    if (change !== 0) options.onBytes(change);
  }

  /** Answers instead of workerd, and closes the connection when that is sent. */
  function refuse(refusal: HeadRefusal): void {
    queue.leave(queued);
    isEnding = true;
    workerd?.destroy();
    socket.end(refusalBytes({ isHead: request?.isHead ?? false, ...refusal }));
    // what the client still sends is read and dropped, or its end would not see the answer
    socket.resume();
    lateAt = clock() + LINGER_MS;
  }

  function readRequest(): void {
    const next = reader.next();
    if (next === undefined) {
      countBytes();
      if (reader.takeExpectation()) socket.write(CONTINUE);
      if (reader.isInside && !isInside && state === 'idle') lateAt = clock() + REQUEST_MS;
      isInside = reader.isInside;
      return;
    }
    isInside = false;
    if ('status' in next) {
      refuse(next);
      return;
    }
    request = next;
    if (next.isLast) isLast = true;
    tries = 0;
    countBytes();
    // this client may have held most
    if (isEnding) return;
    if (next.address !== address) queued.client = clientPath(clientKey(next.address));
    address = next.address;
    queued.isWhiteFlag = next.isWhiteFlag;
    if (next.isUpgrade) isCounted = tunnels.open(queued.client);
    if (next.isUpgrade && !isCounted) {
      refuse({ status: 503, detail: 'there are too many WebSockets' });
      return;
    }
    state = next.isUpgrade ? 'upgrading' : 'waiting';
    lateAt = clock() + HOLD_MS;
    queue.enter(queued);
  }

  function passOn(): void {
    isPassed = true;
    if (workerd === undefined) {
      tries += 1;
      workerd = connectWorkerd(target()!);
    }
    const { isHead, head, body } = request!;
    answer.start(isHead);
    workerd.write(head);
    if (body !== undefined) workerd.write(body);
  }

  function connectWorkerd(to: Target): Socket {
    const opened = connect({ ...to, noDelay: true, allowHalfOpen: true });
    opened.on('data', (bytes: Buffer) => {
      if (workerd === opened && !isEnding) readAnswer(opened, bytes);
    });
    opened.on('end', () => opened.end());
    opened.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') {
        tries -= 1;
        options.onRefused(to);
      }
      opened.destroy();
    });
    opened.on('close', () => {
      if (workerd === opened) loseWorkerd();
    });
    return opened;
  }

  function readAnswer(from: Socket, bytes: Buffer): void {
    if (tunnel !== undefined) {
      tunnel.fromWorkerd(bytes);
      return;
    }
    try {
      const rest = answer.push(bytes);
      if (rest !== undefined && tunnel === undefined) from.destroy();
      if (rest !== undefined) (tunnel as Tunnel | undefined)?.fromWorkerd(rest);
    } catch (error) {
      writeLog('error', 'serve.answer-malformed', { error: (error as Error).message });
      reset();
    }
    if (isEnding) return;
    writer.flush();
    if (socket.writableNeedDrain) {
      unreadAt = Math.min(unreadAt, clock() + UNREAD_MS);
      if (socket.writableLength > MAX_UNREAD_BYTES) from.pause();
    }
    if (request !== undefined) countBytes();
  }

  /** Its side of the connection was closed, or workerd has died. */
  function loseWorkerd(): void {
    workerd = undefined;
    if (isEnding) return;
    if (tunnel !== undefined) tunnel.onEnd();
    // a request that waits for its turn gets another connection
    else if (!isPassed || answer.hasEnded) return;
    // the client must see that its answer was broken off
    else if (writer.hasBegun) reset();
    else {
      isPassed = false;
      queue.leave(queued);
      // no request changes anything, so it can be sent again
      if (tries === MAX_TRIES) refuse({ status: 503, detail: 'the node is starting' });
      else if (tries === 0) queue.enter(queued);
      else setTimeout(enterAgain, RETRY_AFTER_MS);
    }
  }

  function enterAgain(): void {
    if (!isEnding) queue.enter(queued);
  }

  function beginAnswer(head: AnswerHead): void {
    queue.leave(queued);
    const { isUpgrade } = request!;
    if (isUpgrade && head.status === SWITCHING) beginTunnel(head);
    else writer.begin(request!, head, isLast);
  }

  function beginTunnel(head: AnswerHead): void {
    state = 'tunnel';
    lateAt = NEVER;
    request = undefined;
    tunnel = openTunnel({
      client: queued.client,
      socket,
      workerd: workerd!,
      turns,
      clock,
      onLate: reset,
      onBytes: countBytes,
    });
    socket.write(
      `HTTP/1.1 ${head.statusText}\r\n${head.lines}Connection: Upgrade\r\n\r\n`,
      'latin1',
    );
    const rest = reader.takeRest();
    if (rest.length > 0) tunnel.fromClient(rest);
    else socket.resume();
    countBytes();
  }

  /** The client's connection has all of the answer. */
  function endAnswer(): void {
    if (isEnding) return;
    uncount();
    request = undefined;
    isPassed = false;
    state = 'idle';
    lateAt = clock() + IDLE_MS;
    countBytes();
    if (isLast) {
      isEnding = true;
      workerd?.destroy();
      socket.end();
      socket.resume();
      lateAt = clock() + UNREAD_MS;
    } else if (!isEnding && !socket.writableNeedDrain) readOn();
  }

  /** The next request may have come meanwhile. */
  function readOn(): void {
    socket.resume();
    if (reader.isInside) readRequest();
    else isInside = false;
  }

  socket.setNoDelay(true);
  socket.on('data', (bytes: Buffer) => {
    if (isEnding) return;
    if (tunnel !== undefined) {
      tunnel.fromClient(bytes);
      return;
    }
    // behind `Connection: close` nothing is read (RFC 9112, 9.6)
    if (request?.isLast) return;
    reader.push(bytes);
    if (isReading() && !socket.writableNeedDrain) readRequest();
    else {
      countBytes();
      if (reader.bytes > MAX_AHEAD_BYTES) socket.pause();
    }
  });
  socket.on('drain', () => {
    unreadAt = NEVER;
    workerd?.resume();
    if (isEnding || tunnel !== undefined) return;
    if (state === 'idle') {
      lateAt = clock() + IDLE_MS;
      readOn();
    }
    countBytes();
  });
  socket.on('end', () => {
    isLast = true;
    if (tunnel !== undefined) tunnel.onEnd();
    else if (request === undefined) socket.end();
    else if (!isPassed) close();
  });
  socket.on('error', () => end(() => socket.destroy()));
  socket.on('close', () => {
    queue.leave(queued);
    end(() => socket.destroy());
    writer.drop();
    tunnel?.end();
    uncount();
    options.onClose(connection);
  });
  return connection;
}
