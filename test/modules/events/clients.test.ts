/**
 * Who is closed for silence before CONNECT: not who waits for the broker. And what clients cost an
 * object whose clock stands still and that has no timer left.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SHARED_LIMITS } from '../../../src/modules/events/accounts.ts';
import {
  addMessage,
  newClient,
  restoreClient,
  saveClient,
} from '../../../src/modules/events/client.ts';
import { createClients } from '../../../src/modules/events/clients.ts';
import { collectGarbage } from '../../support/used-bytes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('closes a client that says nothing for ten seconds, once the broker has served it', () => {
  const closed: number[] = [];
  const clients = createClients({ published: 0, failed: 0, closes: {} } as never);
  const add = (number: number) => {
    const socket = { close: () => void closed.push(number) } as unknown as WebSocket;
    const client = newClient(socket, '192.0.2.1', Date.now());
    clients.open(client);
    return client;
  };
  const [, waiting] = [add(1), add(2)];
  addMessage(waiting!, Uint8Array.of(0x10));
  vi.advanceTimersByTime(10_000);
  expect(closed).toEqual([1]);
  waiting!.waiting.length = 0;
  vi.advanceTimersByTime(10_000);
  expect(closed).toEqual([1, 2]);
});

const counts = () => ({ messages: 0, closes: {} }) as never;

it('others have turns between many sends, where the clock stands still', async () => {
  vi.useRealTimers();
  vi.spyOn(Date, 'now').mockReturnValue(1e12);
  let [queued, most] = [0, 0];
  const clients = createClients(counts());
  for (let i = 0; i < 50; i++) {
    const send = (bytes: Uint8Array) => {
      queued += bytes.length;
      most = Math.max(most, queued);
    };
    const client = newClient({ send, close() {} } as unknown as WebSocket, `192.0.2.${i}`, 1e12);
    client.id = '';
    clients.open(client);
    clients.listen(client, 'blocks', 'rms');
  }
  const timer = setInterval(() => {
    queued = 0;
  });
  for (let i = 0; i < 200; i++) await clients.publish('blocks', new Uint8Array(1000));
  clearInterval(timer);
  vi.restoreAllMocks();
  expect(most).toBeLessThan(2_000_000);
});

it('of too many the largest goes, also where no timer is left', () => {
  const clients = createClients(counts());
  const add = (address: string) => {
    const socket = { send() {}, close() {} } as unknown as WebSocket;
    const client = newClient(socket, address, Date.now());
    clients.open(client);
    return client;
  };
  for (let i = 0; i < SHARED_LIMITS.connections; i++) add('192.0.2.9');
  const before = vi.getTimerCount();
  expect(clients.isOpen(add('192.0.2.1'))).toBe(true);
  expect([clients.size, vi.getTimerCount()]).toEqual([SHARED_LIMITS.connections, before]);
  expect(before).toBeLessThan(10_000);
});

it('who is evicted before its first messages is not whole after that', () => {
  let saved: unknown;
  const socket = {
    serializeAttachment(attachment: unknown) {
      saved = attachment;
    },
    deserializeAttachment: () => saved,
  } as unknown as WebSocket;
  const client = newClient(socket, '192.0.2.1', 0);
  const isWhole = () => {
    saveClient(client);
    return restoreClient(socket, 'rms').isWhole;
  };
  expect(isWhole()).toBe(true);
  client.initial = (async function* () {})();
  expect(isWhole()).toBe(false);
});

it('nothing that a client had is kept once it is closed, though its socket has not gone', async () => {
  vi.useRealTimers();
  const clients = createClients(counts());
  const sockets = [1, 2].map(() => ({ send() {}, close() {} }) as unknown as WebSocket);
  const both = sockets.map((socket, i) => {
    const client = newClient(socket, '192.0.2.1', Date.now());
    clients.open(client);
    clients.name(client, '');
    clients.listen(client, 'blocks', 'rms');
    clients.tell(client, 'blocks', new Uint8Array(1000));
    if (i === 1) clients.close(client, 'malformed');
    return new WeakRef(client);
  });
  // what a WeakRef has made or given stays until the turn ends
  await new Promise((resolve) => setTimeout(resolve));
  collectGarbage();
  expect(both.map((each) => each.deref() === undefined)).toEqual([false, true]);
  for (const socket of sockets) clients.gone(socket);
});
