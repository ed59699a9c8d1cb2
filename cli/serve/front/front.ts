/**
 * Where clients of `npm run serve` connect. workerd has no limits of its own: it accepts connections
 * until it has no file descriptor left, and then ends; a body may take hours; Host may move the path;
 * and it does not tell the Worker a client's address.
 *
 * The front bounds connections, bytes and time, checks each request's head, adds the client's address
 * as `CF-Connecting-IP`, as Cloudflare does, and lets clients take turns. Nobody has a fixed share.
 * Where there are too many connections or bytes, the client that holds most of them loses some, so
 * one that holds few is always served.
 */
import { type BlockList, createServer, type Server, type Socket } from 'node:net';
import { writeLog } from '../../../src/log.ts';
import { type Connection, openConnection, type Target } from './connection.ts';
import { createFairQueue } from './fair-queue.ts';
import { createTunnelLimit } from './tunnel-limit.ts';

/** Of requests that are not complete or have no answer: 64 of the longest. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The part of all connections that the largest holder loses at once. */
const SHED = 1 / 100;

const LOOK_EVERY_MS = 1000;

/** Between two looks at requests that wait. */
const QUEUE_LOOK_EVERY_MS = 50;

const LOG_EVERY_MS = 60_000;

/** Which of a client's connections is closed first. */
const STATES = ['silent', 'idle', 'waiting', 'upgrading', 'tunnel'];

export interface FrontOptions {
  host: string;
  port: number;
  maxConnections: number;
  /** Whose X-Forwarded-For is believed. */
  proxies: BlockList;
  /** Milliseconds, never going back. */
  clock?: () => number;
}

export interface Front {
  /** Where clients connect. */
  url: URL;
  /** Where workerd listens; undefined while it is being started. */
  passTo(workerd: URL | undefined): void;
  /** Closes all connections. */
  close(): void;
}

/** Resolves when it listens. Until it is told where workerd is, requests wait. */
export async function openFront(options: FrontOptions): Promise<Front> {
  const { host, port, maxConnections, proxies, clock = () => performance.now() } = options;
  let target: Target | undefined;
  const queue = createFairQueue(clock, () => target !== undefined);
  const tunnels = createTunnelLimit(maxConnections, clock);
  /** In the order in which they were opened. */
  const connections = new Set<Connection>();
  let bytes = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  function countBytes(change: number): void {
    bytes += change;
    if (bytes > MAX_BYTES) shed('bytes', (each) => each.bytes);
  }

  /** Closes connections of the client that holds most. */
  function shed(what: 'connections' | 'bytes', holdsOf: (connection: Connection) => number): void {
    const holders = new Map<string, { holds: number; own: Connection[] }>();
    for (const each of connections) {
      if (holdsOf(each) === 0) continue;
      const holder = holders.get(each.client) ?? { holds: 0, own: [] };
      holder.holds += holdsOf(each);
      holder.own.push(each);
      holders.set(each.client, holder);
    }
    const [largest] = [...holders].sort(([, a], [, b]) => b.holds - a.holds);
    if (largest === undefined) return;
    const [client, { holds, own }] = largest;
    // stable: the oldest first
    own.sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
    const closed = own.slice(0, Math.max(1, Math.floor(maxConnections * SHED)));
    for (const each of closed) {
      connections.delete(each);
      each.close();
    }
    if (clock() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = clock();
    writeLog('warn', 'serve.client-shed', { what, client, holds, closed: closed.length });
  }

  function accept(socket: Socket): void {
    if (connections.size >= maxConnections) shed('connections', () => 1);
    const peer = socket.remoteAddress ?? '';
    const family = socket.remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4';
    connections.add(
      openConnection({
        socket,
        isProxy: peer !== '' && proxies.check(peer, family),
        queue,
        tunnels,
        target: () => target,
        onRefused(refused) {
          if (target === refused) target = undefined;
        },
        clock,
        onBytes: countBytes,
        onClose: (closed) => connections.delete(closed),
      }),
    );
  }

  const server = createServer({ allowHalfOpen: true }, accept);
  await listen(server, host, port);
  // a connection that was reset before it was accepted
  server.on('error', (error) => writeLog('warn', 'serve.not-accepted', { error: error.message }));
  setInterval(() => {
    const now = clock();
    tunnels.look(now);
    for (const each of connections) each.look(now);
  }, LOOK_EVERY_MS).unref();
  setInterval(() => queue.look(), QUEUE_LOOK_EVERY_MS).unref();
  const address = server.address() as { port: number; address: string; family: string };
  return {
    url: new URL(`http://${reachable(address)}:${address.port}`),
    passTo(workerd) {
      target = workerd && { host: workerd.hostname, port: Number(workerd.port) };
      queue.look();
    },
    close() {
      server.close();
      for (const each of connections) each.close();
    },
  };
}

/** Where this machine reaches it. */
function reachable({ address, family }: { address: string; family: string }): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return family === 'IPv6' ? `[${address}]` : address;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true, backlog: 4096 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
