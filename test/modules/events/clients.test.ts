/** Who is closed for silence before CONNECT: not who waits for the broker. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { addMessage, newClient } from '../../../src/modules/events/client.ts';
import { createClients } from '../../../src/modules/events/clients.ts';

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
