/**
 * Virtual time and seeded chance: one queue of events, ordered by time and then by the order in
 * which they were scheduled. After each event all microtasks that it set off run, before the next
 * event begins. So the seed alone decides what happens, and when.
 */
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { Random } from '../../support/network/random.ts';

/** Whatever can be killed: an isolate, an object's instance, a client. Its events never run then. */
export interface Process {
  readonly name: string;
  alive: boolean;
  /** Of an object: it is called, or its alarm rings, which begins its counts anew. */
  readonly usage: Usage;
  /** What its end ends too, such as sockets. */
  readonly onEnd: (() => void)[];
}

/** What the platform counts for one invocation of the Worker, or for an object. */
export interface Usage {
  /** Statements. */
  d1Calls: number;
  kvCalls: number;
  subrequests: number;
  /** That are set, and have not run. */
  timers: number;
  /** Connections, and who waits for one. */
  open: number;
  readonly waiting: (() => void)[];
}

const newUsage = (): Usage => ({
  d1Calls: 0,
  kvCalls: 0,
  subrequests: 0,
  timers: 0,
  open: 0,
  waiting: [],
});

/** A request, an alarm, a call of an object. */
export interface Invocation {
  readonly usage: Usage;
  /** Batches, or single statements. */
  d1Batches: number;
  /** Nobody waits for it any more, and the platform has dropped it without a word. */
  isDropped: boolean;
}

const newInvocation = (): Invocation => ({ usage: newUsage(), d1Batches: 0, isDropped: false });

interface Owner {
  process: Process;
  invocation: Invocation;
}

interface Event {
  at: number;
  order: number;
  work: () => void;
  owner: Owner | undefined;
}

const running = new AsyncLocalStorage<Owner>();

/** Real ones, from before anything takes their place. */
const realImmediate = setImmediate;

/** The world waits for something real, whose end the seed does not decide. */
class RealAsynchrony extends Error {
  override readonly name = 'RealAsynchrony';
}

export class Simulation {
  now: number;
  /** Of the platform's chance: latencies, random bytes, which isolate answers. */
  readonly random: Random;
  /** Events that ran. */
  events = 0;
  /** Promises that nobody handled. */
  readonly unhandled: unknown[] = [];
  readonly #queue: Event[] = [];
  #order = 0;

  constructor(seed: string, start: number) {
    this.now = start;
    this.random = new Random(`platform ${seed}`);
  }

  /** Runs the work at a time, for whoever schedules it: never if that one is killed before. */
  at(time: number, work: () => void, owner = running.getStore()): void {
    push(this.#queue, { at: Math.max(time, this.now), order: this.#order++, work, owner });
  }

  /** As {@link at}, for the world itself, which nobody kills. */
  atForWorld(time: number, work: () => void): void {
    push(this.#queue, {
      at: Math.max(time, this.now),
      order: this.#order++,
      work,
      owner: undefined,
    });
  }

  /** Runs the work of the world itself so many milliseconds later. */
  after(ms: number, work: () => void): void {
    this.atForWorld(this.now + ms, work);
  }

  /** Runs the work as an invocation of a process. */
  begin(process: Process, time: number, work: () => void): void {
    this.at(time, work, { process, invocation: newInvocation() });
  }

  /** Forgets what has not run: what hangs has listeners, which keep the world (connections.ts). */
  end(): void {
    this.#queue.length = 0;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(this.now + ms, resolve));
  }

  /** Mostly about so many milliseconds, now and then ten times as many. */
  latency(ms: number): Promise<void> {
    return this.sleep(this.#about(ms));
  }

  /** As {@link latency}, of what was sent. */
  arrival(ms: number): Promise<void> {
    return this.arriveAfter(this.#about(ms));
  }

  /** Half of what was sent arrives though whoever sent it is gone. */
  arriveAfter(ms: number): Promise<void> {
    if (this.random.chance(0.5)) return this.sleep(ms);
    return new Promise((resolve) => this.atForWorld(this.now + ms, resolve));
  }

  #about(ms: number): number {
    const { random } = this;
    return random.chance(0.02) ? random.between(ms, 10 * ms) : random.between(1, 2 * ms);
  }

  /** Runs all events of so many milliseconds. */
  pass(ms: number): Promise<void> {
    return this.runUntil(this.now + ms);
  }

  /** Runs all events up to this time. */
  async runUntil(time: number): Promise<void> {
    current = this;
    watch.enable();
    try {
      for (
        let next = this.#queue[0];
        next !== undefined && next.at <= time;
        next = this.#queue[0]
      ) {
        pop(this.#queue);
        this.now = next.at;
        const { process, invocation } = next.owner ?? {};
        if (process?.alive === false || invocation?.isDropped) continue;
        this.events++;
        if (next.owner === undefined) running.exit(next.work);
        else running.run(next.owner, next.work);
        await turn();
        if (foreign !== undefined)
          throw new RealAsynchrony(`something real is awaited: ${foreign}`);
      }
    } finally {
      watch.disable();
      foreign = undefined;
    }
    this.now = Math.max(this.now, time);
  }
}

export function currentOwner(): { process: Process; invocation: Invocation } | undefined {
  return running.getStore();
}

/** Whether it serves clients: what they ask is their own choice. */
export function isRequest(process: Process | undefined): boolean {
  return process?.name.startsWith('isolate') === true;
}

/** What is counted of whoever runs. */
export function currentUsage(): Usage | undefined {
  const { process, invocation } = currentOwner() ?? {};
  return isRequest(process) ? invocation!.usage : process?.usage;
}

/** Runs the work at once, as an invocation of the process. */
export function runAs(process: Process, work: () => void): void {
  running.run({ process, invocation: newInvocation() }, work);
}

/** Ends a process: its timers, answers and sockets. */
export function kill(process: Process): void {
  process.alive = false;
  for (const end of process.onEnd.splice(0)) end();
}

export function newProcess(name: string): Process {
  return { name, alive: true, usage: newUsage(), onEnd: [] };
}

/** All microtasks are done when it resolves. */
const turn = () => new Promise<void>((resolve) => realImmediate(resolve));

/** The simulation that runs: one at a time. */
let current: Simulation | undefined;
/** What only a thread, a file or a socket ends. */
let foreign: string | undefined;

/** The world's own turns, and jobs of node:crypto that are done when they return. */
const OWN = /^(PROMISE|TickObject|Immediate|Microtask|SIGNREQUEST|HASHREQUEST)$/;

const watch = createHook({
  init(_id: number, type: string) {
    if (OWN.test(type) || foreign !== undefined) return;
    const stack = new Error().stack?.split('\n').slice(2, 9).join('\n') ?? '';
    // by timers of its own the runner tells how tests go
    if (!stack.includes('/node_modules/vitest/')) foreign = `${type} ${stack}`;
  },
  trackPromises: false,
} as never);

process.on('unhandledRejection', (reason) => {
  if (current === undefined) throw reason;
  current.unhandled.push(reason);
});

function push(queue: Event[], event: Event): void {
  let place = queue.length;
  queue.push(event);
  for (let up = (place - 1) >> 1; place > 0 && isBefore(event, queue[up]!); up = (place - 1) >> 1) {
    queue[place] = queue[up]!;
    place = up;
  }
  queue[place] = event;
}

function pop(queue: Event[]): void {
  const last = queue.pop()!;
  if (queue.length === 0) return;
  let place = 0;
  for (;;) {
    let down = 2 * place + 1;
    if (down >= queue.length) break;
    if (down + 1 < queue.length && isBefore(queue[down + 1]!, queue[down]!)) down++;
    if (!isBefore(queue[down]!, last)) break;
    queue[place] = queue[down]!;
    place = down;
  }
  queue[place] = last;
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
