/**
 * One client's connection: reads its requests, passes each on when it is its turn, and passes back
 * what workerd answers, byte by byte. One request at a time; those behind it wait in the socket.
 */
import { connect, type Socket } from 'node:net';
import { clientKey } from '../../../src/http/access/client-address.ts';
import type { FairQueue, Leave } from './fair-queue.ts';
import { refusalBytes } from './refusal.ts';
import { createRequestReader, type FrontRequest } from './request-reader.ts';

/** From the connection, or from the first byte of a request, until the request is complete. */
const REQUEST_MS = 15_000;

/** Between an answer and the next request: above the 60 s of nginx, so that nginx closes first. */
const IDLE_MS = 65_000;

/** A client that reads nothing for so long is gone. */
const UNREAD_MS = 60_000;

/** For a client to read the last bytes and close its side. */
const LINGER_MS = 2000;

/** An answer begins and workerd closes within this time: they belong together. */
const ANSWER_MS = 1000;

/** Bytes that wait in memory behind a request that is not answered yet. */
const MAX_AHEAD_BYTES = 16 * 1024;

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

const SWITCHING = 'HTTP/1.1 101';

/**
 * `silent`: no complete request yet. `idle`: between two. `waiting`: for its turn or the answer.
 * `upgrading`: the same, and the answer may be 101. `tunnel`: it was.
 */
type State = 'silent' | 'idle' | 'waiting' | 'upgrading' | 'tunnel';

export interface Connection {
  /** Key of the client. */
  readonly client: string;
  readonly state: State;
  /** Of the request that is not complete yet. */
  readonly bytes: number;
  /** Closes it if it is late. `now` in milliseconds. */
  look(now: number): void;
  close(): void;
}

export interface ConnectionOptions {
  socket: Socket;
  /** Whether X-Forwarded-For of the other end is believed. */
  isProxy: boolean;
  queue: FairQueue;
  /** Where workerd listens; undefined while it is being started. */
  target: () => { host: string; port: number } | undefined;
  /** Milliseconds, never going back. */
  clock: () => number;
  /** Called when `client` or `bytes` may be others. */
  onChange: (connection: Connection) => void;
  onClose: (connection: Connection) => void;
}

export function openConnection(options: ConnectionOptions): Connection {
  const { socket, isProxy, queue, target, clock, onChange, onClose } = options;
  const peer = socket.remoteAddress ?? '';
  const reader = createRequestReader(peer, isProxy);
  let client = clientKey(peer);
  let state: State = 'silent';
  let lateAt = clock() + REQUEST_MS;
  let workerd: Socket | undefined;
  /** Whether workerd's side has answered before: it may have been closed since. */
  let isReused = false;
  /** Passed on and not answered yet. */
  let passed: FrontRequest | undefined;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let leave: Leave = () => {};
  let isInside = false;
  /** Nothing more is read or passed on. */
  let isEnding = false;

  const connection: Connection = {
    get client() {
      return client;
    },
    get state() {
      return state;
    },
    get bytes() {
      return reader.bytes;
    },
    look(now) {
      if (now < lateAt) return;
      if (!isEnding && reader.isInside && isReading())
        refuse(400, 'the request did not arrive in time');
      else close();
    },
    close,
  };

  const isReading = () => state === 'silent' || state === 'idle';

  function close(): void {
    isEnding = true;
    socket.destroy();
    workerd?.destroy();
  }

  /** Answers instead of workerd, and closes the connection when that is sent. */
  function refuse(status: 400 | 404 | 503, detail: string): void {
    leave();
    isEnding = true;
    workerd?.destroy();
    socket.end(refusalBytes(status, detail));
    // what the client still sends is read and dropped, or its end would not see the answer
    socket.resume();
    lateAt = clock() + LINGER_MS;
  }

  function readRequest(): void {
    const next = reader.next();
    onChange(connection);
    if (next === undefined) {
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
    client = next.address === peer ? client : clientKey(next.address);
    state = next.isUpgrade ? 'upgrading' : 'waiting';
    lateAt = Number.POSITIVE_INFINITY;
    leave = queue.enter(client, next.isWhiteFlag, () => passOn(next));
  }

  function passOn(request: FrontRequest): void {
    passed = request;
    isReused = workerd !== undefined;
    workerd ??= connectWorkerd();
    if (workerd === undefined) refuse(503, 'the node is starting');
    else if (typeof request.bytes === 'string') workerd.write(request.bytes, 'latin1');
    else workerd.write(request.bytes);
  }

  function connectWorkerd(): Socket | undefined {
    const address = target();
    if (address === undefined) return undefined;
    const opened = connect({ ...address, noDelay: true, allowHalfOpen: true });
    opened.on('data', (bytes: Buffer) => {
      const begins = passed !== undefined;
      if (begins) beginAnswer(bytes);
      if (!socket.write(bytes)) {
        opened.pause();
        lateAt = clock() + UNREAD_MS;
      }
      // the next one may have come meanwhile
      if (begins && state === 'idle') readRequest();
    });
    opened.on('end', () => opened.end());
    opened.on('error', () => opened.destroy());
    opened.on('close', () => {
      if (workerd === opened) loseWorkerd();
    });
    return opened;
  }

  /** Its side of the connection was closed, or workerd has died. */
  function loseWorkerd(): void {
    workerd = undefined;
    if (isEnding) return;
    if (passed !== undefined && isReused) {
      // it was closed while the request was on its way. No request changes anything, so send it again
      passOn(passed);
    } else if (passed !== undefined) {
      refuse(503, 'the node is starting');
    } else if (state !== 'idle' || clock() - answeredAt < ANSWER_MS) {
      // the end of a tunnel, or of an answer after which the connection ends
      isEnding = true;
      socket.end();
      lateAt = clock() + UNREAD_MS;
    }
  }

  function beginAnswer(bytes: Buffer): void {
    leave();
    passed = undefined;
    answeredAt = clock();
    const isTunnel =
      state === 'upgrading' && bytes.toString('latin1', 0, SWITCHING.length) === SWITCHING;
    state = isTunnel ? 'tunnel' : 'idle';
    if (isTunnel) {
      workerd!.write(reader.takeRest());
    } else {
      lateAt = answeredAt + IDLE_MS;
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
    if (isReading()) readRequest();
    else if (reader.bytes > MAX_AHEAD_BYTES) socket.pause();
  });
  socket.on('drain', () => {
    lateAt = state === 'idle' ? clock() + IDLE_MS : Number.POSITIVE_INFINITY;
    workerd?.resume();
  });
  socket.on('end', () => {
    const isQueued = passed === undefined && (state === 'waiting' || state === 'upgrading');
    if (isQueued) close();
    else if (workerd === undefined) socket.end();
    else workerd.end();
  });
  socket.on('error', close);
  socket.on('close', () => {
    leave();
    close();
    onClose(connection);
  });
  return connection;
}
