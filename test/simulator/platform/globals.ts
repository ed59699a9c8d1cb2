/**
 * The globals of an isolate: time, timers, chance, cryptography and the log in the simulation's
 * terms. WebCrypto's threads end when they like, so its results come at once here.
 */
import { createHash } from 'node:crypto';
import { verifySignature } from '../../support/payloads/keys.ts';
import { currentUsage, type Simulation, type Usage } from './simulation.ts';
import { SimulatedResponse, Socket, SocketPair } from './sockets.ts';

export interface LogLine {
  at: number;
  level: 'info' | 'warn' | 'error';
  text: string;
}

interface Outside {
  fetch: (url: string, init?: RequestInit) => Promise<Response>;
  caches: unknown;
  log: (line: LogLine) => void;
}

/**
 * Time stands still while code runs, as simulated time does. Before the isolate has started it is 0,
 * and there are no timers and no chance.
 *
 * @param skewMs how far the isolate's clock is ahead; asked at each reading
 * @param isStarting whether the modules of the isolate run, outside of any handler
 */
export function isolateGlobals(
  simulation: Simulation,
  { fetch, caches, log }: Outside,
  skewMs: () => number,
  isStarting: () => boolean = () => false,
): Record<string, unknown> {
  const now = () => (isStarting() ? 0 : simulation.now + skewMs());
  const inHandler = () => {
    if (isStarting()) throw new Error('Disallowed operation called within global scope.');
  };
  const RealDate = Date;
  class SimulatedDate extends RealDate {
    constructor(...given: []) {
      super(...((given.length === 0 ? [now()] : given) as []));
    }
    static override now = now;
  }
  class SimulatedAbortSignal extends AbortSignal {
    static override timeout(ms: number): AbortSignal {
      const late = new AbortController();
      timer(() => late.abort(new DOMException('late', 'TimeoutError')), ms);
      return late.signal;
    }
  }
  const timer = (work: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): Timer => {
    inHandler();
    const handle: Timer = { isOn: true, usage: currentUsage() };
    if (handle.usage !== undefined && ++handle.usage.timers > MOST_TIMERS)
      line('error')(`RangeError: ${MOST_TIMERS} timers are set`);
    simulation.at(simulation.now + Math.max(1, ms), () => {
      if (!handle.isOn) return;
      clear(handle);
      work(...given);
    });
    return handle;
  };
  const interval = (work: () => void, ms = 0): Timer => {
    inHandler();
    const handle: Timer = { isOn: true };
    const again = () => {
      if (!handle.isOn) return;
      simulation.at(simulation.now + Math.max(1, ms), again);
      work();
    };
    simulation.at(simulation.now + Math.max(1, ms), again);
    return handle;
  };
  const clear = (handle?: Timer | null) => {
    if (handle?.isOn && handle.usage) handle.usage.timers--;
    if (handle) handle.isOn = false;
  };
  const randomBytes = <T extends ArrayBufferView>(view: T): T => {
    inHandler();
    const { buffer, byteOffset, byteLength } = view;
    new Uint8Array(buffer, byteOffset, byteLength).set(simulation.random.bytes(byteLength));
    return view;
  };
  const line = (level: LogLine['level']) => (text: string) =>
    log({ at: simulation.now, level, text });
  return {
    Date: SimulatedDate,
    randomNumber: () => simulation.random.u32() / 2 ** 32,
    performance: { now },
    setTimeout: timer,
    setInterval: interval,
    clearTimeout: clear,
    clearInterval: clear,
    AbortSignal: SimulatedAbortSignal,
    crypto: {
      getRandomValues: randomBytes,
      randomUUID: () =>
        randomBytes(new Uint8Array(16))
          .toHex()
          .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      subtle: {
        importKey: async (_format: string, raw: Uint8Array) => raw,
        verify: async (
          _name: string,
          key: Uint8Array,
          signature: Uint8Array,
          message: Uint8Array,
        ) => verifySignature(key, message, signature),
        digest: async (_name: string, data: Uint8Array) =>
          new Uint8Array(createHash('sha256').update(data).digest()).buffer,
      },
    },
    console: { info: line('info'), warn: line('warn'), error: line('error') },
    fetch: async (url: string, init?: RequestInit) => {
      inHandler();
      return fetch(url, init);
    },
    caches,
    WebSocket: Socket,
    WebSocketPair: SocketPair,
    Response: SimulatedResponse,
  };
}

/** Of a request, and of an object: workerd allows 10,000, and a story is short. */
const MOST_TIMERS = 600;

interface Timer {
  isOn: boolean;
  /** Of whoever set it. */
  usage?: Usage | undefined;
}
