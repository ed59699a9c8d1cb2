/**
 * What is alive in the heaps of a running workerd, asked of V8's inspector: our Worker's isolate,
 * and those with which miniflare plays D1, KV and the cache.
 */
import { once } from 'node:events';
import type { Edge } from './edge.ts';

/** The isolate of our Worker and its Durable Object. */
export const OUR_ISOLATE = 'core:user:stardust-edge-node';

interface Heap {
  usedSize: number;
  embedderHeapUsedSize: number;
  backingStorageSize: number;
}

/**
 * Bytes by isolate, with what is not collected yet: workerd does not let itself be told to. The
 * Worker must have been started with `inspect`.
 */
export async function readHeaps({ inspector }: Edge): Promise<Map<string, number>> {
  const targets = (await (
    await fetch(new URL('/json', inspector!.replace('ws:', 'http:')))
  ).json()) as Target[];
  const heaps = new Map<string, number>();
  for (const { id, webSocketDebuggerUrl } of targets)
    heaps.set(id, await readHeap(webSocketDebuggerUrl));
  return heaps;
}

interface Target {
  id: string;
  webSocketDebuggerUrl: string;
}

async function readHeap(url: string): Promise<number> {
  const socket = new WebSocket(url);
  try {
    await once(socket, 'open');
    socket.send(JSON.stringify({ id: 1, method: 'Runtime.getHeapUsage' }));
    const [event] = (await once(socket, 'message')) as [MessageEvent];
    const { usedSize, embedderHeapUsedSize, backingStorageSize }: Heap = JSON.parse(
      event.data,
    ).result;
    return usedSize + embedderHeapUsedSize + backingStorageSize;
  } finally {
    socket.close();
  }
}
