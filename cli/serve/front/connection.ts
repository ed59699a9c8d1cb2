/**
 * One client's connection: reads its requests, passes each on when it is its turn, and passes back
 * what workerd answers, byte by byte. One request at a time; those behind it wait in the socket.
 */
import { connect, type Socket } from 'node:net';
import { clientKey } from '../../../src/http/access/client-address.ts';
import type { FairQueue, Queued } from './fair-queue.ts';
import { refusalBytes } from './refusal.ts';
import { createRequestReader, type FrontRequest } from './request-reader.ts';
import type { TunnelLimit } from './tunnel-limit.ts';
import { isWholeAnswer } from './whole-answer.ts';

/** From the connection, or from the first byte of a request, until the request is complete. */
const REQUEST_MS = 15_000;

/** Between an answer and the next request: above the 60 s of nginx, so that nginx closes first. */
const IDLE_MS = 65_000;

/** From the request's end, while workerd is away: it takes one to three seconds to start. */
const HOLD_MS = 10_000;

/** A client that reads nothing for so long is gone. */
const UNREAD_MS = 60_000;

/** For a client to read the last bytes and close its side. */
const LINGER_MS = 2000;

/** An answer begins and workerd closes within this time: they may belong together. */
const ANSWER_MS = 1000;

/** Bytes that wait in memory behind a request that is not answered yet. */
const MAX_AHEAD_BYTES = 16 * 1024;

/** A request that was lost as often with a new connection to workerd may be what ends workerd. */
const MAX_TRIES = 3;

/** A process that was killed accepts connections until the last of its sockets is closed. */
const RETRY_AFTER_MS = 50;

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

const SWITCHING = 'HTTP/1.1 101';

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
  /** Key of the client. */
  readonly client: string;
  readonly state: State;
  /** Of the request that is not complete, or has no answer yet. */
  readonly bytes: number;
  /** Closes it if it is late. `now` in milliseconds. */
  look(now: number): void;
  close(): void;
}

export interface ConnectionOptions {
  socket: Socket;
  /** Whether X-Forwarded-For of the other end is believed. */
  isProxy: boolean;
  /** Open while there is a target. */
  queue: FairQueue;
  tunnels: TunnelLimit;
  /** Undefined while workerd is being started. */
  target: () => Target | undefined;
  /** Nobody listens there. */
  onRefused: (target: Target) => void;
  /** Milliseconds, never going back. */
  clock: () => number;
  /** Called when `bytes` are more by `change`, or fewer. */
  onBytes: (change: number) => void;
  onClose: (connection: Connection) => void;
}

export function openConnection(options: ConnectionOptions): Connection {
  const { socket, isProxy, queue, tunnels, target, onRefused, clock, onBytes, onClose } = options;
  const peer = socket.remoteAddress ?? '';
  const reader = createRequestReader(peer, isProxy);
  let address = peer;
  const queued: Queued & { client: string; isWhiteFlag: boolean } = {
    client: clientKey(peer),
    isWhiteFlag: false,
    start: passOn,
  };
  let state: State = 'silent';
  let lateAt = clock() + REQUEST_MS;
  /** Whether it is counted as a WebSocket. */
  let isCounted = false;
  let unreadAt = Number.POSITIVE_INFINITY;
  let workerd: Socket | undefined;
  /** Complete and not answered yet. */
  let request: FrontRequest | undefined;
  /** Whether it is on its way to workerd. */
  let isPassed = false;
  /** How often it was sent on a new connection: workerd may have closed an older one already. */
  let tries = 0;
  let bytes = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;
  /** First bytes of the answer, for a second or two, and how many have come. */
  let answer: Buffer | undefined;
  let answerBytes = 0;
  let isInside = false;
  /** Nothing more is read or passed on. */
  let isEnding = false;

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
    look(now) {
      if (now - answeredAt > ANSWER_MS) answer = undefined;
      if (now >= unreadAt) close();
      if (now < lateAt) return;
      if (isEnding) close();
      else if (request === undefined && reader.isInside)
        refuse(400, 'the request did not arrive in time');
      else if (request === undefined) close();
      // where workerd is there, the request waits for its turn or for the answer
      else if (target() === undefined) refuse(503, 'the node is starting');
    },
    close,
  };

  const isReading = () => state === 'silent' || state === 'idle';

  function close(): void {
    isEnding = true;
    socket.destroy();
    workerd?.destroy();
    onBytes(-bytes);
    bytes = 0;
  }

  function uncount(): void {
    if (isCounted) tunnels.close(queued.client, state === 'tunnel' || isPassed);
    isCounted = false;
  }

  function countBytes(): void {
    const now = reader.bytes + (request === undefined ? 0 : request.bytes.length);
    const change = now - bytes;
    bytes = now;
    if (change !== 0) onBytes(change);
  }

  /** Answers instead of workerd, and closes the connection when that is sent. */
  function refuse(status: 400 | 404 | 503, detail: string): void {
    queue.leave(queued);
    isEnding = true;
    workerd?.destroy();
    socket.end(refusalBytes(status, detail));
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
      refuse(next.status, next.detail);
      return;
    }
    request = next;
    tries = 0;
    countBytes();
    // this client may have held most
    if (isEnding) return;
    if (next.address !== address) queued.client = clientKey(next.address);
    address = next.address;
    queued.isWhiteFlag = next.isWhiteFlag;
    if (next.isUpgrade) isCounted = tunnels.open(queued.client);
    if (next.isUpgrade && !isCounted) {
      refuse(503, 'there are too many WebSockets');
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
    const { bytes } = request!;
    if (typeof bytes === 'string') workerd.write(bytes, 'latin1');
    else workerd.write(bytes);
  }

  function connectWorkerd(to: Target): Socket {
    const opened = connect({ ...to, noDelay: true, allowHalfOpen: true });
    opened.on('data', (bytes: Buffer) => {
      const begins = request !== undefined;
      if (begins) beginAnswer(bytes);
      answerBytes += bytes.length;
      if (!socket.write(bytes)) {
        opened.pause();
        unreadAt = clock() + UNREAD_MS;
      }
      // the next one may have come meanwhile
      if (begins && state === 'idle') readRequest();
    });
    opened.on('end', () => opened.end());
    opened.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') {
        tries -= 1;
        onRefused(to);
      }
      opened.destroy();
    });
    opened.on('close', () => {
      if (workerd === opened) loseWorkerd();
    });
    return opened;
  }

  /** Its side of the connection was closed, or workerd has died. */
  function loseWorkerd(): void {
    workerd = undefined;
    // a request that waits for its turn gets another connection
    if (isEnding || (request !== undefined && !isPassed)) return;
    if (request !== undefined) {
      isPassed = false;
      queue.leave(queued);
      // no request changes anything, so it can be sent again
      if (tries === MAX_TRIES) refuse(503, 'the node is starting');
      else if (tries === 0) queue.enter(queued);
      else setTimeout(enterAgain, RETRY_AFTER_MS);
    } else if (state !== 'idle' || socket.readableEnded || !isWhole()) {
      // the end of a tunnel, of an answer that is broken off or ends with its connection, or of a
      // client that sends no more
      isEnding = true;
      socket.end();
      lateAt = clock() + UNREAD_MS;
    }
  }

  function enterAgain(): void {
    if (!isEnding) queue.enter(queued);
  }

  /** What began long ago has ended. */
  function isWhole(): boolean {
    if (clock() - answeredAt > ANSWER_MS) return true;
    return answer !== undefined && isWholeAnswer(answer, answerBytes);
  }

  function beginAnswer(bytes: Buffer): void {
    queue.leave(queued);
    answer = bytes;
    answerBytes = 0;
    request = undefined;
    isPassed = false;
    countBytes();
    answeredAt = clock();
    const isTunnel =
      state === 'upgrading' && bytes.toString('latin1', 0, SWITCHING.length) === SWITCHING;
    state = isTunnel ? 'tunnel' : 'idle';
    if (!isTunnel) uncount();
    lateAt = isTunnel ? Number.POSITIVE_INFINITY : answeredAt + IDLE_MS;
    if (isTunnel) {
      workerd!.write(reader.takeRest());
      countBytes();
    }
    socket.resume();
  }

  socket.setNoDelay(true);
  socket.on('data', (bytes: Buffer) => {
    if (isEnding) return;
    if (state === 'tunnel') {
      if (!workerd!.write(bytes)) {
        socket.pause();
        workerd!.once('drain', () => socket.resume());
      }
      return;
    }
    reader.push(bytes);
    if (isReading()) {
      readRequest();
      return;
    }
    countBytes();
    if (reader.bytes > MAX_AHEAD_BYTES) socket.pause();
  });
  socket.on('drain', () => {
    unreadAt = Number.POSITIVE_INFINITY;
    if (state === 'idle') lateAt = clock() + IDLE_MS;
    workerd?.resume();
  });
  socket.on('end', () => {
    if (request !== undefined && !isPassed) close();
    else if (workerd === undefined) socket.end();
    else workerd.end();
  });
  socket.on('error', close);
  socket.on('close', () => {
    queue.leave(queued);
    close();
    uncount();
    onClose(connection);
  });
  return connection;
}
