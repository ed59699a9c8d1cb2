/**
 * What an invocation may have of the platform: six connections at once, of which a seventh waits
 * until one ends, and so many subrequests. It is open until its body is read or cancelled, though
 * newer versions of https://developers.cloudflare.com/workers/platform/limits/ say until its headers
 * come; and as long as it is a WebSocket. An object has one I/O context for all its calls
 * (https://developers.cloudflare.com/dynamic-workers/platform/limits/), and so six in all.
 */
import { currentUsage } from './simulation.ts';
import { SimulatedResponse, type Socket } from './sockets.ts';

const MAX_OPEN = 6;
const MAX_SUBREQUESTS = 10_000;

/** Calls with the reason once the signal is aborted, as long as it is in use. */
export function onAbort(
  signal: AbortSignal | null | undefined,
  work: (reason: unknown) => void,
): Disposable {
  const listener = () => work(signal!.reason);
  if (signal?.aborted) listener();
  signal?.addEventListener('abort', listener);
  // Node keeps a signal with listeners, and they the world, while one that it follows may abort
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', listener) };
}

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Waits for a place, and returns what gives it back. */
export async function openConnection(signal?: AbortSignal | null): Promise<() => void> {
  const usage = currentUsage();
  signal?.throwIfAborted();
  if (usage === undefined) return () => {};
  if (++usage.subrequests > MAX_SUBREQUESTS)
    throw new Error('Too many subrequests by single Worker invocation.');
  if (usage.open < MAX_OPEN) usage.open++;
  else {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    usage.waiting.push(resolve);
    using _leaving = onAbort(signal, (reason) => {
      const place = usage.waiting.indexOf(resolve);
      if (place < 0) return;
      usage.waiting.splice(place, 1);
      reject(reason);
    });
    await promise;
  }
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    // the place is that of whoever has waited longest
    const next = usage.waiting.shift();
    if (next === undefined) usage.open--;
    else next();
  };
}

/** Does the work of one call over a connection. */
export async function connected<T>(work: () => Promise<T>): Promise<T> {
  const close = await openConnection();
  try {
    return await work();
  } finally {
    close();
  }
}

/** `fetch` over a connection, which is open until nothing of the answer is left to come. */
export function connectedFetch(fetch: Fetch): Fetch {
  return async (url, init = {}) => {
    const { signal } = init;
    const close = await openConnection(signal);
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      close();
      throw error;
    }
    const { webSocket } = response as Response & { webSocket?: Socket | null };
    if (webSocket) webSocket.onEnd.push(close);
    else if (response.body === null) close();
    else {
      const listening = onAbort(signal, close);
      return withBody(response, response.body, () => {
        listening[Symbol.dispose]();
        close();
      });
    }
    return response;
  };
}

/** The same answer, whose body says when it ends. */
function withBody({ status, headers }: Response, body: ReadableStream, close: () => void) {
  const reader = body.getReader();
  const told = new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      try {
        let next = await reader.read();
        while (!next.done && next.value.length === 0) next = await reader.read();
        // a copy, as what is enqueued is taken from where it was
        if (!next.done) return controller.enqueue(next.value.slice());
        close();
        controller.close();
        controller.byobRequest?.respond(0);
      } catch (error) {
        close();
        throw error;
      }
    },
    cancel(reason) {
      close();
      return reader.cancel(reason);
    },
  });
  return new SimulatedResponse(told, { status, headers });
}
