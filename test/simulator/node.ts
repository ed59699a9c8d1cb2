/**
 * The node under test as a customer of the platform sees it: what `src/worker.ts` exports, with its
 * bindings, in one isolate or several; and what an operator does to it. Nothing of the node is put
 * together by hand.
 */
import { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { D1_LIMITS, openMemory } from '../support/ledger/memory-database.ts';
import type { MakeIsolate, Product } from './platform/bundle.ts';
import { openCaches } from './platform/cache.ts';
import { connected, connectedFetch } from './platform/connections.ts';
import { type D1Counts, type D1Fault, openD1 } from './platform/d1.ts';
import { isolateGlobals, type LogLine } from './platform/globals.ts';
import { KvDouble, type KvOptions } from './platform/kv.ts';
import { ObjectDouble } from './platform/objects.ts';
import {
  currentOwner,
  kill,
  newProcess,
  type Process,
  type Simulation,
} from './platform/simulation.ts';
import { Socket } from './platform/sockets.ts';

const CRON_MS = 60_000;
/** How long work goes on that a request left behind. */
const LEFT_BEHIND_MS = 30_000;

/** Clients that have asked too often, and networks: one of the keys of a site. */
const LIMITED = new Set(['203.0.113.9', '2001:db8:1:2::/64', '2001:db8:2::/48 0']);
/** One that has asked too often for white flags. */
const LIMITED_PROPOSER = '203.0.113.10';

const limitTo = (limited: ReadonlySet<string>) => ({
  limit: async ({ key }: { key: string }) => ({ success: !limited.has(key) }),
});

export interface NodeOptions {
  simulation: Simulation;
  makeIsolate: MakeIsolate;
  isolateCount: number;
  /** Statements of an object until it is called again (limits.ts). */
  mostOfObject: number;
  /** How old a copy of KV may be, milliseconds. */
  staleMs: number;
  vars: Record<string, string>;
  fetch: (url: string, init?: RequestInit) => Promise<Response>;
}

/** What the weather does to the platform at the moment. */
export interface Disturbances {
  /** Of the calls of D1, the share that fails; by which fault. */
  d1: { chance: number; faults: readonly D1Fault[] };
  kvDown: boolean;
  /** Nothing is put into KV, which gives what it has. */
  kvFull: boolean;
  /** How long a put into KV may take, milliseconds. */
  kvSlowMs: number;
  /** The share of reads of KV that hang. */
  kvHanging: number;
  cacheDown: boolean;
  /** Bytes of D1, of the 10 GB that it may have. */
  d1Bytes: number;
  /** Which batch of each request waits; 0: none. */
  heldBatch: number;
  /** Milliseconds that a replica of D1 may be behind; 0 where there is none. */
  replicaMs: number;
  /** Milliseconds that the clocks of isolates are ahead. */
  skewMs: number;
}

interface Isolate {
  product: Product;
  process: Process;
}

export class SimulatedNode {
  readonly simulation: Simulation;
  readonly options: NodeOptions;
  readonly sqlite: SqliteDatabase;
  kv: KvDouble;
  /** Called when something is to be put into KV. */
  onPut: KvOptions['onPut'] = () => {};
  isKvExchanged = false;
  #otherKv: KvDouble;
  readonly lines: LogLine[] = [];
  readonly counts: D1Counts & KvOptions['counts'] = {
    calls: 0,
    ofObjects: 0,
    mostOfRequest: 0,
    rowsWritten: 0,
    swapLostAt: 0,
    kvReads: 0,
    kvDamaged: 0,
    kvOpen: 0,
  };
  readonly disturbances: Disturbances = {
    d1: { chance: 0, faults: [] },
    kvDown: false,
    kvFull: false,
    kvSlowMs: 0,
    kvHanging: 0,
    cacheDown: false,
    d1Bytes: 0,
    heldBatch: 0,
    replicaMs: 0,
    skewMs: 0,
  };
  #replica: { db: SqliteDatabase; until: number } | undefined;
  readonly follower: ObjectDouble;
  readonly events: ObjectDouble;
  #vars: Record<string, string>;
  /** Calls of D1 that went wrong. */
  faults = 0;
  #faultAt = Number.NEGATIVE_INFINITY;
  #version = 0;
  #isolates: Isolate[] = [];
  #env!: Record<string, unknown>;
  readonly #caches: ReturnType<typeof openCaches>;

  private constructor(options: NodeOptions, sqlite: SqliteDatabase) {
    const { simulation, staleMs } = options;
    this.simulation = simulation;
    this.options = options;
    this.sqlite = sqlite;
    this.#vars = options.vars;
    Socket.simulation = simulation;
    Socket.servedAt = Number.NEGATIVE_INFINITY;
    const { disturbances, counts } = this;
    const openKv = () =>
      new KvDouble(simulation, {
        staleMs,
        isDown: () => disturbances.kvDown,
        isFull: () => disturbances.kvFull,
        slowMs: () => disturbances.kvSlowMs,
        hanging: () => disturbances.kvHanging,
        counts,
        onPut: (...given) => this.onPut(...given),
      });
    this.kv = openKv();
    this.#otherKv = openKv();
    this.#caches = openCaches(simulation, () => disturbances.cacheDown);
    const make = (name: 'Follower' | 'EventBroker') => (ctx: unknown) =>
      new this.product[name](ctx as never, this.#env as never);
    const skewMs = () => disturbances.skewMs;
    this.follower = new ObjectDouble(simulation, 'follower', make('Follower'), skewMs);
    this.events = new ObjectDouble(simulation, 'events', make('EventBroker'), skewMs);
    this.deploy();
  }

  static async open(options: NodeOptions): Promise<SimulatedNode> {
    return new SimulatedNode(options, await openMemory());
  }

  /** The cron trigger, from now on. */
  start(): void {
    const { simulation } = this;
    const cron = () => {
      const { product, process } = this.#anyIsolate();
      simulation.begin(process, simulation.now, () => {
        const { invocation } = currentOwner()!;
        Promise.try(() => product.default.scheduled({} as never, this.#env as never))
          .catch((error) => this.#log(`scheduled: ${error}`))
          .finally(() => {
            invocation.isDropped = true;
          });
      });
      simulation.after(CRON_MS, cron);
    };
    simulation.after(100, cron);
  }

  #log(text: string): void {
    this.lines.push({ at: this.simulation.now, level: 'info', text });
  }

  /** The objects live in the first isolate, and an operator's commands use the same version. */
  get product(): Product {
    return this.#isolates[0]!.product;
  }

  #anyIsolate(): Isolate {
    return this.simulation.random.pick(this.#isolates);
  }

  /**
   * The database as an operator's commands write it, on which no fault of the weather falls.
   *
   * @param calls after which the command is cut off, unless it has replaced the ledger: the last
   *   one is done, and not answered
   */
  operatorsDatabase(calls = Number.POSITIVE_INFINITY): Database {
    const { simulation, sqlite, counts } = this;
    let left = calls;
    const fault = (sql: readonly string[]) => {
      if (--left > 0 || sql.some((each) => each.includes('RENAME TO'))) return undefined;
      return left === 0 ? 'lost-after' : 'lost-before';
    };
    const options = { primary: sqlite, replica: () => sqlite, fault, crash: () => {}, counts };
    return openD1(simulation, options) as never;
  }

  /** What a session reads that need not have the newest: a copy of the primary from a while ago. */
  readonly #nearest = (): SqliteDatabase => {
    const { replicaMs } = this.disturbances;
    const { now, random } = this.simulation;
    if (replicaMs === 0) return this.sqlite;
    if (this.#replica === undefined || this.#replica.until <= now) {
      const db = this.#replica?.db ?? new SqliteDatabase(':memory:', D1_LIMITS);
      db.deserialize(this.sqlite.serialize());
      this.#replica = { db, until: now + random.between(1, replicaMs) };
    }
    return this.#replica.db;
  };

  /** The replica stays as it is for so long. */
  holdReplica(ms: number): void {
    this.#nearest();
    if (this.#replica !== undefined) this.#replica.until = this.simulation.now + ms;
  }

  /** The replica has all that the primary has, for a moment. */
  catchUp(): void {
    if (this.#replica !== undefined) this.#replica.until = 0;
  }

  get vars(): Readonly<Record<string, string>> {
    return this.#vars;
  }

  /**
   * A new version, with other settings perhaps: new isolates, and new objects unless the ones before
   * are left to work on, until the function that is returned is called.
   */
  deploy(changes: Record<string, string> = {}, isOverlapping = false): () => void {
    this.#vars = { ...this.#vars, ...changes };
    this.#version++;
    const before = this.#isolates;
    this.#env = this.#bindings();
    this.#isolates = Array.from({ length: this.options.isolateCount }, (_, i) =>
      this.#newIsolate(i),
    );
    const endObjects = [this.follower, this.events].map((object) => object.replace());
    const end = () => {
      for (const endObject of endObjects) endObject();
      for (const { process } of before) kill(process);
    };
    if (!isOverlapping) end();
    return end;
  }

  #bindings(): Record<string, unknown> {
    const { simulation, sqlite, counts } = this;
    const namespace = (object: ObjectDouble) => ({
      idFromName: (name: string) => name,
      get: () => object.stub,
    });
    const fault = (): D1Fault | undefined => this.#fault();
    const crash = (process: Process) => this.#crash(process);
    return {
      LEDGER: openD1(simulation, {
        primary: sqlite,
        replica: this.#nearest,
        fault,
        crash,
        counts,
        size: () => this.disturbances.d1Bytes,
        mostOfObject: this.options.mostOfObject,
        held: () => this.#delays().heldBatch,
        isHanging: () => this.#delays().isHanging,
      }),
      NFT_INDEX: this.kv,
      FOLLOWER: namespace(this.follower),
      EVENTS: namespace(this.events),
      READ_LIMIT: limitTo(LIMITED),
      WHITE_FLAG_LIMIT: limitTo(new Set([LIMITED_PROPOSER])),
      ASSETS: { fetch: (url: string) => connected(async () => readFile(url)) },
      VERSION: { id: `version-${this.#version}`, tag: '', timestamp: '' },
      ...this.#vars,
    };
  }

  /** What calls that wait ask again and again. */
  #delays(): { heldBatch: number; isHanging: boolean } {
    const { d1, heldBatch } = this.disturbances;
    const isHanging = d1.faults.includes('hangs');
    if (isHanging || heldBatch > 0) this.#faultAt = this.simulation.now;
    return { heldBatch, isHanging };
  }

  #fault(): D1Fault | undefined {
    const { d1 } = this.disturbances;
    const { random } = this.simulation;
    if (d1.chance === 0 || !random.chance(d1.chance)) return undefined;
    this.faults++;
    this.#faultAt = this.simulation.now;
    return random.pick(d1.faults);
  }

  #crash(process: Process): void {
    const object = [this.follower, this.events].find((each) => each.runs(process));
    const place = this.#isolates.findIndex((each) => each.process === process);
    if (object !== undefined) object.kill();
    else if (place >= 0) this.#isolates[place] = this.#newIsolate(place);
    kill(process);
  }

  #newIsolate(place: number): Isolate {
    const { simulation, options, disturbances } = this;
    const outside = {
      fetch: connectedFetch(options.fetch),
      caches: this.#caches,
      log: (line: LogLine) => this.lines.push({ ...line, text: withoutOwnFrames(line.text) }),
    };
    let isStarting = true;
    const globals = isolateGlobals(
      simulation,
      outside,
      () => disturbances.skewMs,
      () => isStarting,
    );
    const product = options.makeIsolate(globals);
    isStarting = false;
    return { product, process: newProcess(`isolate ${this.#version}.${place}`) };
  }

  /**
   * A request; the answer never comes if the isolate is killed. What it leaves behind ends with the
   * answer, or 30 seconds later if it is waited for, as it does when the client is gone.
   *
   * @param leavesAfter milliseconds after which the client is gone
   */
  ask(path: string, init?: RequestInit, leavesAfter?: number): Promise<Response> {
    const { simulation } = this;
    return new Promise((resolve, reject) => {
      const { product, process } = this.#anyIsolate();
      const lost = () => reject(new TypeError('the isolate is gone'));
      process.onEnd.push(lost);
      const forget = () => process.onEnd.splice(process.onEnd.indexOf(lost), 1);
      simulation.begin(process, simulation.now, () => {
        const { invocation } = currentOwner()!;
        let awaited = 0;
        let isOver = false;
        const drop = () => {
          invocation.isDropped = true;
        };
        // what ends may begin what is waited for too
        const dropIfOver = () => isOver && awaited === 0 && drop();
        const end = () => {
          if (isOver) return;
          isOver = true;
          if (process.onEnd.includes(lost)) forget();
          if (awaited === 0) drop();
          else simulation.after(LEFT_BEHIND_MS, drop);
        };
        const leave = () => {
          end();
          reject(new TypeError('the client is gone'));
        };
        if (leavesAfter !== undefined) simulation.after(leavesAfter, leave);
        const request = new Request(new URL(path, 'https://edge.test'), init);
        const ctx = {
          waitUntil: (work: Promise<unknown>) => {
            awaited++;
            work
              .catch((error) => this.#log(`waitUntil: ${error}`))
              .finally(() => {
                awaited--;
                simulation.after(0, dropIfOver);
              });
          },
        };
        Promise.try(() => product.default.fetch(request as never, this.#env as never, ctx as never))
          .then(resolve as never, reject)
          .finally(end);
      });
    });
  }

  /** Whether calls of D1 may take long, or fail, or one did that had not ended at that time. */
  isSlowSince(time: number): boolean {
    const { d1, heldBatch } = this.disturbances;
    return d1.chance > 0 || heldBatch > 0 || this.#faultAt > time - SLOW_MS;
  }

  /** Another namespace is bound, with what it had when it was bound last. */
  exchangeKv(): void {
    [this.kv, this.#otherKv] = [this.#otherKv, this.kv];
    this.isKvExchanged = true;
    this.deploy();
  }

  /** Isolates are evicted: memory, timers and answers are gone. */
  restartIsolates(): void {
    this.deploy();
  }
}

/** What a call of D1 takes at most where it is slow (platform/d1.ts). */
const SLOW_MS = 3000;

const PAGE = '<title>Stardust edge node</title><meta content="https://origin.invalid/">';

/** Of the files some, by their paths. */
const FILES: Readonly<Record<string, string>> = { '/index.html': PAGE, '/openapi.json': '{}' };

function readFile(url: string): Response {
  const file = FILES[new URL(url).pathname];
  const headers = { 'content-type': 'text/html', etag: `"${file?.length}"` };
  return new Response(file ?? 'no such file', file ? { headers } : { status: 404 });
}

/** Of a stack in a line of log only what is the product's: the simulator's frames vary. */
function withoutOwnFrames(text: string): string {
  return text.replaceAll(/\\n +at (?:(?!\\n|").)*(?:file:|node:)(?:(?!\\n|").)*/g, '');
}
