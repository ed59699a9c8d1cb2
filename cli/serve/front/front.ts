/**
 * Where clients of `npm run serve` connect. workerd has no limits of its own: it accepts connections
 * until it has no file descriptor left, and then ends; a body may take hours; Host may move the path;
 * and it does not tell the Worker a client's address.
 *
 * The front bounds what is held for clients, in bytes, connections and time; checks each request's
 * head; adds the client's address as `CF-Connecting-IP`, as Cloudflare does; and lets clients take
 * turns. Nobody has a fixed share. Where there is too much of something, the client that holds most
 * of it loses some, so one that holds little is always served.
 */
import { once } from 'node:events';
import { type BlockList, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { largestHolder } from '../../../src/platform/client-path.ts';
import { writeLimitedLog } from '../../../src/platform/log.ts';
import { createClosingTunnels } from './closing-tunnels.ts';
import { type Connection, openConnection, type Shared } from './connection.ts';
import { createFairQueue } from './fair-queue.ts';
import { readKernelQueues } from './kernel-queues.ts';
import { createMessageTurns, ROUND_EVERY_MS } from './message-turns.ts';

/** Of connections, requests, answers and messages, in all processes and the kernel. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

/** The part of all that the largest holder loses at once. */
const SHED = 1 / 100;

const LOOK_EVERY_MS = 1000;

/** Between two looks at requests that wait. */
const QUEUE_LOOK_EVERY_MS = 5;

/** To ask the kernel takes a tenth of the time at most, unless so much was sent meanwhile. */
const ASK_PART = 10;
const MAX_SENT_BYTES = 32 * 1024 * 1024;

/** Connections that the kernel has at most before this process accepts them. */
const BACKLOG = 4096;

/** On SIGTERM: for requests to arrive that were sent before, and for all to be answered. */
const ARRIVE_MS = 100;
const DRAIN_MS = 5000;

export interface FrontOptions {
  host: string;
  /** 0: any that is free. */
  port: number;
  maxConnections: number;
  /** Of all that is held for clients. */
  maxBytes?: number;
  /** Whose X-Forwarded-For is believed. */
  proxies: BlockList;
  /** Milliseconds, never going back. */
  clock?: () => number;
}

export type Front = Awaited<ReturnType<typeof openFront>>;

/** So that of those who hold about the same the youngest loses, and not who was just told more. */
const roughBytes = ({ bytes }: Connection): number => (bytes | MAX_EMPTY_BYTES) + 1;

/** Bytes of a connection that holds nothing worth mentioning, all bits of them set. */
const MAX_EMPTY_BYTES = 0x3fff;

/** So that of a crowd those lose that ask nothing, and not who waits for an answer, or reads one. */
const placesOf = ({ state, bytes }: Connection): number =>
  state === 'idle' && bytes <= MAX_EMPTY_BYTES ? 1.001 : 1;

/** Resolves when it listens. Until it is told where workerd is, requests wait. */
export async function openFront(options: FrontOptions) {
  const { host, port, maxConnections, maxBytes = MAX_HELD_BYTES, proxies } = options;
  const { clock = () => performance.now() } = options;
  /** In the order in which they were opened. */
  const connections = new Set<Connection>();
  let accepted = 0;
  let heldBytes = 0;
  /** Since the kernel was asked. */
  let sentBytes = 0;
  let askAt = 0;
  let isAsking = false;
  let isGoingOn = false;
  const shared: Shared = {
    queue: createFairQueue(clock, () => shared.target !== undefined),
    closing: createClosingTunnels(),
    turns: createMessageTurns(),
    clock,
    target: undefined,
    leftBytes: 0,
    count(change) {
      heldBytes += change;
      if (change > 0 && heldBytes > maxBytes) void balance();
    },
    countSent(bytes) {
      sentBytes += bytes;
      if (sentBytes >= MAX_SENT_BYTES) void balance();
    },
    onClose: (closed) => connections.delete(closed),
  };

  /** Closes connections of the client that holds most, until it holds less by `amount`. */
  function shed(what: string, amount: number, holdsOf: (each: Connection) => number): void {
    const own = largestHolder(connections, holdsOf);
    const holds = own.reduce((sum, each) => sum + holdsOf(each), 0);
    // where all are alike those that do nothing, and of them the oldest (the sort is stable)
    own.sort((a, b) => holdsOf(b) - holdsOf(a) || a.bytes - b.bytes);
    let [closed, freed] = [0, 0];
    for (const each of own) {
      // a holder of few does not lose all of them
      if (closed > 0 && (freed >= amount || freed >= holds / 2)) break;
      freed += holdsOf(each);
      closed += 1;
      connections.delete(each);
      each.reset();
    }
    const [client] = own.map((each) => each.client.at(-1));
    writeLimitedLog('warn', 'serve.client-shed', { what, client, holds, closed });
  }

  /**
   * Closes who holds most. What the kernel holds for each is what it said last: of what was sent
   * since, a client may have read all. What came while it was asked was counted too, so others are
   * closed in the next turns until all hold less. That ends: what is reset counts no more at once,
   * however late its memory is free.
   */
  async function balance(): Promise<void> {
    const now = clock();
    if (isAsking) return;
    if (now >= askAt || sentBytes >= MAX_SENT_BYTES) {
      isAsking = true;
      sentBytes = 0;
      const queues = await readKernelQueues(Number(url.port));
      for (const each of connections) {
        each.setKernelBytes(queues.get(each.kernelName) ?? 0);
        queues.delete(each.kernelName);
      }
      shared.leftBytes = [...queues.values()].reduce((sum, bytes) => sum + bytes, 0);
      askAt = now + (clock() - now) * ASK_PART;
      isAsking = false;
    }
    const excess = heldBytes - maxBytes;
    if (excess <= 0) return;
    shed('bytes', excess + maxBytes * SHED, roughBytes);
    if (isGoingOn || heldBytes <= maxBytes) return;
    isGoingOn = true;
    // to look for who holds most takes 10 ms where there are 20,000
    await nextTurn();
    isGoingOn = false;
    void balance();
  }

  function accept(socket: Socket): void {
    accepted += 1;
    const { remoteAddress: peer, remoteFamily } = socket;
    // it was reset meanwhile, so nobody knows whose it was
    if (peer === undefined) socket.destroy();
    else {
      if (connections.size >= maxConnections) shed('connections', maxConnections * SHED, placesOf);
      const family = remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4';
      connections.add(openConnection(socket, proxies.check(peer, family), shared));
    }
  }

  /** Closes who is late. What the kernel had by now is read first: this process may have slept. */
  async function look(): Promise<void> {
    const now = clock();
    await askForEvents();
    for (const each of connections) each.look(now);
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
  await once(server.listen({ host, port, exclusive: true, backlog: BACKLOG }), 'listening');
  const address = server.address() as { port: number; address: string; family: string };
  const url = new URL(`http://${reachable(address)}:${address.port}`);
  // a connection that was reset before it was accepted
  server.on('error', ({ message }) =>
    writeLimitedLog('warn', 'serve.not-accepted', { error: message }),
  );
  const lookAtAll = () => {
    void look();
    void balance();
  };
  const timers = [
    setInterval(lookAtAll, LOOK_EVERY_MS).unref(),
    setInterval(() => shared.queue.look(), QUEUE_LOOK_EVERY_MS).unref(),
    setInterval(() => shared.turns.look(), ROUND_EVERY_MS).unref(),
  ];
  return {
    /** Where clients connect. */
    url,
    /** Where workerd listens; undefined while it is being started. */
    passTo(workerd: URL | undefined): void {
      shared.target = workerd;
      shared.queue.look();
    },
    /** Accepts nobody any more, and resolves when all is answered, or after some seconds. */
    async drain(): Promise<void> {
      const endAt = performance.now() + DRAIN_MS;
      // those that the kernel has and this process not yet would be reset; it takes one at a time,
      // and who comes meanwhile does not keep the door open
      const most = accepted + BACKLOG;
      for (let before = -1; before < accepted && accepted < most; await askForEvents())
        before = accepted;
      server.close();
      for (const each of connections) each.drain(clock() + ARRIVE_MS);
      const isBusy = () => [...connections].some((each) => each.state !== 'tunnel');
      while (isBusy() && performance.now() < endAt) {
        await sleep(ROUND_EVERY_MS);
        await look();
      }
    },
    /** Closes all connections. */
    close(): void {
      for (const timer of timers) clearInterval(timer);
      server.close();
      for (const each of connections) each.reset();
    },
  };
}

/** The loop asks the kernel between two turns, and perhaps not before the first. */
async function askForEvents(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Where this machine reaches it. */
function reachable({ address, family }: { address: string; family: string }): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return family === 'IPv6' ? `[${address}]` : address;
}
