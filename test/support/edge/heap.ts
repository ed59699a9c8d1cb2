/**
 * Heaps of a running workerd, asked of V8's inspector: our Worker's isolate, and those with which
 * miniflare plays D1, KV and the cache. The Worker must have been started with `inspect`.
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

interface Target {
  id: string;
  webSocketDebuggerUrl: string;
}

/** What the sampling profiler saw allocated in a function, and in those that it called. */
interface SampledCalls {
  /** Bytes. */
  selfSize: number;
  children: SampledCalls[];
}

/** Bytes by isolate, with what is not collected yet. */
export async function readHeaps(edge: Edge): Promise<Map<string, number>> {
  const heaps = new Map<string, number>();
  for (const { id, webSocketDebuggerUrl } of await readTargets(edge)) {
    const inspector = await connect(webSocketDebuggerUrl);
    heaps.set(id, await heapOf(inspector));
    inspector.close();
  }
  return heaps;
}

/** Bytes of our isolate once its garbage is collected. */
export async function collectGarbage(edge: Edge): Promise<number> {
  const ours = await connectToOurs(edge);
  try {
    await ours.ask('HeapProfiler.collectGarbage');
    return await heapOf(ours);
  } finally {
    ours.close();
  }
}

/**
 * Isolates of miniflare that let garbage of ours lie for long. Those of KV and cache do so too, but
 * one that is idle does not collect before it is asked for something.
 */
const STORES = /^d1:/;

/** Has V8 collect the garbage of our isolate, and of those that play D1. */
export async function collectAllGarbage(edge: Edge): Promise<void> {
  for (const { id, webSocketDebuggerUrl } of await readTargets(edge)) {
    if (id !== OUR_ISOLATE && !STORES.test(id)) continue;
    const inspector = await connect(webSocketDebuggerUrl);
    await inspector.ask('HeapProfiler.collectGarbage');
    inspector.close();
  }
}

async function heapOf(inspector: Inspector): Promise<number> {
  const usage = await inspector.ask<Heap>('Runtime.getHeapUsage');
  return usage.usedSize + usage.embedderHeapUsedSize + usage.backingStorageSize;
}

/** Bytes that our isolate allocates while `work` goes on, collected or not, by samples. */
export async function measureAllocation(edge: Edge, work: () => Promise<void>): Promise<number> {
  const inspector = await connectToOurs(edge);
  try {
    await inspector.ask('HeapProfiler.enable');
    await inspector.ask('HeapProfiler.startSampling', {
      samplingInterval: 1024,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    await work();
    const { profile } = await inspector.ask<{ profile: { head: SampledCalls } }>(
      'HeapProfiler.stopSampling',
    );
    return sumOf(profile.head);
  } finally {
    inspector.close();
  }
}

function sumOf({ selfSize, children }: SampledCalls): number {
  return children.reduce((sum, child) => sum + sumOf(child), selfSize);
}

async function readTargets({ inspector }: Edge): Promise<Target[]> {
  const url = new URL('/json', inspector!.replace('ws:', 'http:'));
  return (await (await fetch(url)).json()) as Target[];
}

async function connectToOurs(edge: Edge): Promise<Inspector> {
  const ours = (await readTargets(edge)).find(({ id }) => id === OUR_ISOLATE);
  if (ours === undefined) throw new Error(`no isolate ${OUR_ISOLATE}`);
  return connect(ours.webSocketDebuggerUrl);
}

interface Inspector {
  ask<Result>(method: string, params?: object): Promise<Result>;
  close(): void;
}

async function connect(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  let asked = 0;
  return {
    ask: (method, params = {}) =>
      new Promise((resolve, reject) => {
        const id = ++asked;
        const read = ({ data }: MessageEvent) => {
          const answer = JSON.parse(data);
          // between answers come events, of which nothing is needed here
          if (answer.id !== id) return;
          socket.removeEventListener('message', read);
          if (answer.error === undefined) resolve(answer.result);
          else reject(new Error(`${method}: ${answer.error.message}`));
        };
        socket.addEventListener('message', read);
        socket.send(JSON.stringify({ id, method, params }));
      }),
    close: () => socket.close(),
  };
}
