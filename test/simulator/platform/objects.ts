/**
 * Durable Objects: storage outlives an instance, which can be killed or evicted at any time, and
 * with it every stub that has called it; alarms ring at least once; calls go by copies; WebSockets
 * hibernate. There are no input and output gates:
 * calls and events come between any two steps, so a product that passes does not rest on gates. A
 * second instance may answer while the first one still works, as during a deployment.
 */
import { serialize } from 'node:v8';
import { openConnection } from './connections.ts';
import {
  currentOwner,
  isRequest,
  kill,
  newProcess,
  type Process,
  runAs,
  type Simulation,
} from './simulation.ts';
import type { Socket } from './sockets.ts';

const CALL_MS = 2;
const STORAGE_MS = 1;
/** How often an alarm looks at a clock that was set back. */
const LOOK_MS = 1000;
const MAX_ALARM_RETRIES = 6;
const FIRST_RETRY_MS = 2000;
const MAX_VALUE_BYTES = 2 << 20;

interface Handlers {
  alarm?(): Promise<void>;
  fetch?(request: Request): Promise<Response>;
  webSocketMessage?(socket: Socket, message: ArrayBuffer | string): Promise<void> | void;
  webSocketClose?(socket: Socket, code: number, reason: string, wasClean: boolean): void;
  webSocketError?(socket: Socket, error: Error): void;
}

interface Instance {
  object: Handlers;
  process: Process;
}

/** What a stub knows: the instance that it called, and the error that it gives for ever. */
interface Caller {
  process?: Process;
  broken?: Error;
}

export class ObjectDouble {
  readonly #simulation: Simulation;
  readonly #name: string;
  readonly #make: (ctx: unknown) => object;
  readonly #skewMs: () => number;
  readonly #values = new Map<string, unknown>();
  #instance: Instance | undefined;
  #alarm: { at: number } | undefined;
  #retries = 0;
  #sockets: Socket[] = [];
  readonly #tags = new WeakMap<Socket, readonly string[]>();
  starts = 0;
  /** When it did so last. */
  startedAt = 0;
  /** How often requests have called it. */
  asked = 0;
  /** Calls of methods do not come, as long as it says so; what clients send does. */
  losesCalls = false;
  /** Alarms that do not ring, as long as it says so. */
  losesAlarms = false;
  /** How many did not. */
  lostAlarms = 0;

  /**
   * @param skewMs how far the clock is ahead, which is also that of alarms
   */
  constructor(
    simulation: Simulation,
    name: string,
    make: (ctx: unknown) => object,
    skewMs: () => number = () => 0,
  ) {
    this.#simulation = simulation;
    this.#skewMs = skewMs;
    this.#name = name;
    this.#make = make;
  }

  /**
   * A new stub: methods are called on the other side. Once an instance that it called is reset, it
   * fails for ever (https://developers.cloudflare.com/durable-objects/best-practices/error-handling/).
   */
  get stub(): unknown {
    const caller: Caller = {};
    return new Proxy(this, {
      get: (self, method) => {
        if (method === 'then') return undefined;
        if (method === 'fetch')
          return async (url: string, init: RequestInit) => {
            const close = await openConnection();
            return self
              .#call(
                ({ object }) => object.fetch!(new Request(url, init)),
                (answer) => answer,
                caller,
              )
              .finally(close);
          };
        return async (...given: unknown[]) => {
          if (self.losesCalls) throw new Error('Network connection lost.');
          if (isRequest(currentOwner()?.process)) self.asked++;
          const copies = structuredClone(given);
          return self.#call(
            ({ object }) =>
              (object as Record<string, (...copies: unknown[]) => Promise<unknown>>)[
                method as string
              ]!(...copies),
            (value) => structuredClone(value),
            caller,
          );
        };
      },
    });
  }

  async #call<T>(
    work: (instance: Instance) => Promise<T>,
    copy: (value: T) => T,
    stub: Caller = {},
  ): Promise<T> {
    const simulation = this.#simulation;
    if (stub.process?.alive === false) stub.broken ??= reset();
    if (stub.broken !== undefined) throw stub.broken;
    await simulation.latency(CALL_MS);
    const instance = this.#start();
    stub.process = instance.process;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const caller = currentOwner();
    let isAnswered = false;
    const answer = (give: () => void) => {
      isAnswered = true;
      if (caller === undefined) simulation.after(1, give);
      else simulation.at(simulation.now + 1, give, caller);
    };
    // a caller is told when the other side is gone
    const lost = () => {
      stub.broken ??= reset();
      if (!isAnswered) answer(() => reject(stub.broken!));
    };
    instance.process.onEnd.push(lost);
    simulation.begin(instance.process, simulation.now, () => {
      Object.assign(instance.process.usage, { d1Calls: 0, kvCalls: 0, subrequests: 0 });
      const forget = () => {
        const place = instance.process.onEnd.indexOf(lost);
        if (place >= 0) instance.process.onEnd.splice(place, 1);
      };
      Promise.try(() => work(instance)).then(
        (value) => {
          forget();
          answer(() => resolve(copy(value)));
        },
        (error: Error) => {
          forget();
          answer(() => reject(asRemote(error)));
        },
      );
    });
    return promise;
  }

  runs(process: Process): boolean {
    return this.#instance?.process === process;
  }

  /** Ends the instance, wherever it is. Sockets that hibernate stay, unless the machine is lost. */
  kill(isMachineLost = true): void {
    const instance = this.#instance;
    this.#instance = undefined;
    if (instance !== undefined) kill(instance.process);
    if (isMachineLost) for (const socket of this.#sockets) socket.close(1006);
  }

  /**
   * From now on another instance answers; the one before goes on with what it is doing. New code
   * ends all WebSockets (https://developers.cloudflare.com/durable-objects/best-practices/websockets/).
   */
  replace(): () => void {
    const before = this.#instance;
    this.#instance = undefined;
    for (const socket of this.#sockets) socket.close(1006);
    return () => {
      if (before !== undefined) kill(before.process);
    };
  }

  /** Whether an instance runs: one that was killed is started by the next event. */
  get isAwake(): boolean {
    return this.#instance !== undefined;
  }

  /** Rings the alarm once more, though it has rung. */
  ringAgain(): void {
    this.#simulation.after(0, () => void this.#ring({ at: 0 }, true));
  }

  #start(): Instance {
    if (this.#instance !== undefined) return this.#instance;
    const process = newProcess(`${this.#name} ${++this.starts}`);
    this.startedAt = this.#simulation.now;
    let object: Handlers | undefined;
    // synchronously, as an invocation of the new process
    runAs(process, () => {
      object = this.#make(this.#context()) as Handlers;
    });
    this.#instance = { object: object!, process };
    return this.#instance;
  }

  #context() {
    const simulation = this.#simulation;
    return {
      storage: this.#storage(),
      id: { toString: () => this.#name },
      waitUntil: (work: Promise<unknown>) => void work,
      getWebSockets: (tag?: string) =>
        this.#sockets.filter(
          (socket) =>
            socket.readyState < 3 && (tag === undefined || this.#tags.get(socket)?.includes(tag)),
        ),
      acceptWebSocket: (socket: Socket, tags: readonly string[] = []) => {
        this.#tags.set(socket, tags);
        this.#accept(socket);
      },
      abort: () => simulation.after(0, () => this.kill()),
    };
  }

  #storage() {
    const simulation = this.#simulation;
    return {
      getAlarm: async () => {
        await simulation.sleep(STORAGE_MS);
        return this.#alarm?.at ?? null;
      },
      setAlarm: async (at: number | Date) => {
        this.#setAlarm(Number(at));
        await simulation.sleep(STORAGE_MS);
      },
      deleteAlarm: async () => {
        this.#alarm = undefined;
        await simulation.sleep(STORAGE_MS);
      },
      kv: {
        get: (key: string) => structuredClone(this.#values.get(key)),
        put: (key: string, value: unknown) => {
          if (serialize(value).length > MAX_VALUE_BYTES)
            throw new Error('string or blob too big: SQLITE_TOOBIG');
          this.#values.set(key, structuredClone(value));
        },
        delete: (key: string) => this.#values.delete(key),
      },
    };
  }

  /** Hibernation: an event finds, or starts, the instance that is there then. */
  #accept(socket: Socket): void {
    this.#sockets.push(socket);
    socket.isServed = true;
    socket.received = (data) =>
      void this.#call(
        async ({ object }) => object.webSocketMessage?.(socket, data),
        () => undefined,
      ).catch(() => socket.close(1011));
    socket.ended = (code, reason) => {
      void this.#call(
        async ({ object }) => {
          // of a connection that broke either is told
          if (code === 1006 && this.#simulation.random.chance(0.5))
            object.webSocketError?.(socket, new Error('Network connection lost.'));
          else object.webSocketClose?.(socket, code, reason, code !== 1006);
        },
        () => undefined,
      ).catch(() => undefined);
      this.#sockets = this.#sockets.filter((each) => each !== socket);
    };
    socket.open(undefined);
  }

  #setAlarm(at: number): void {
    const alarm = { at };
    this.#alarm = alarm;
    const due = () => alarm.at - this.#skewMs();
    const look = () => {
      const { now } = this.#simulation;
      // the clock may have been set back meanwhile
      if (due() <= now) void this.#ring(alarm);
      else if (this.#alarm === alarm)
        this.#simulation.atForWorld(Math.min(due(), now + LOOK_MS), look);
    };
    this.#simulation.atForWorld(due(), look);
  }

  async #ring(alarm: { at: number }, isAgain = false): Promise<void> {
    if (this.#alarm !== alarm && !isAgain) return;
    if (this.losesAlarms) {
      this.lostAlarms++;
      this.#alarm = undefined;
      return;
    }
    if (!isAgain) this.#alarm = undefined;
    try {
      await this.#call(
        async ({ object }) => object.alarm!(),
        () => undefined,
      );
      this.#retries = 0;
    } catch {
      if (this.#alarm === undefined && this.#retries < MAX_ALARM_RETRIES)
        this.#setAlarm(
          this.#simulation.now + this.#skewMs() + FIRST_RETRY_MS * 2 ** this.#retries++,
        );
    }
  }
}

const reset = () =>
  Object.assign(new Error('Durable Object reset because its code was updated.'), {
    durableObjectReset: true,
  });

/** An error of another isolate: what it says, not its class. */
function asRemote(error: unknown): Error {
  return error instanceof Error
    ? Object.assign(new Error(error.message), { remote: true })
    : new Error(String(error));
}
