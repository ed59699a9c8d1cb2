/**
 * The platform's contract, by the doubles; and what workerd on this machine does not show: it counts
 * no connections, its clock goes on while code runs, and a request that has ended may work on.
 */
import { expect, test } from 'vitest';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SimulatedNode } from '../node.ts';
import { bundleProduct } from './bundle.ts';
import { openCaches } from './cache.ts';
import { connectedFetch } from './connections.ts';
import { describePlatform, type Platform } from './contract.ts';
import { openD1 } from './d1.ts';
import { ObjectDouble } from './objects.ts';
import { newProcess, type Process, Simulation } from './simulation.ts';
import { SimulatedResponse, SocketPair } from './sockets.ts';

const simulation = new Simulation('contract', Date.now());
const OPTIONS = {
  mostOfObject: 1000,
  simulation,
  isolateCount: 1,
  staleMs: 0,
  vars: {},
  fetch: async () => new Response(null, { status: 404 }),
};
const node = await SimulatedNode.open({
  ...OPTIONS,
  makeIsolate: await bundleProduct('usual'),
});
const sqlite = await openMemory();
const d1 = openD1(simulation, {
  primary: sqlite,
  replica: () => sqlite,
  fault: () => undefined,
  crash: () => {},
  counts: { calls: 0, ofObjects: 0, mostOfRequest: 0, rowsWritten: 0, swapLostAt: 0 },
});

async function run(test: () => Promise<void>): Promise<void> {
  let isDone = false;
  const done = test().finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  while (!isDone) {
    await simulation.pass(10);
    await Promise.resolve();
  }
  return done;
}

describePlatform({
  run,
  d1: d1 as never,
  kv: node.kv as never,
  caches: openCaches(simulation, () => false) as never,
  follower: node.follower.stub as Platform['follower'],
  inObject: (work) => {
    const object = new ObjectDouble(simulation, 'contract', (ctx) => ({
      work: async () => work(ctx as never),
    }));
    return (object.stub as { work(): Promise<never> }).work();
  },
  makePair: () => {
    const pair = new SocketPair();
    return [pair[0], pair[1]] as never;
  },
  respond: (status, webSocket) =>
    new SimulatedResponse(null, { status, webSocket: webSocket as never }) as never,
  sleep: (ms) => simulation.sleep(ms),
  openFollower: () => node.follower.stub as Platform['follower'],
  reset: async () => node.follower.kill(),
});

const URL = 'https://upstream.test/';
const begin = (process: Process, work: () => void) =>
  simulation.begin(process, simulation.now, work);

/** Six connections, of which each ends when the test says so, and a call of D1 after them. */
function sevenCalls() {
  const answers: ((answer: Response) => void)[] = [];
  const gone = new AbortController();
  const ask = connectedFetch(
    (_url, init) =>
      new Promise((resolve, reject) => {
        answers.push(resolve);
        init?.signal?.addEventListener('abort', () => reject(init.signal!.reason));
      }),
  );
  const got: Response[] = [];
  const done: string[] = [];
  const read = (name: string) =>
    void d1
      .prepare('SELECT 1')
      .first()
      .then(() => done.push(name));
  return {
    ...{ gone, answers, got, done, read },
    begin: () => {
      for (let i = 0; i < 6; i++)
        ask(URL, { signal: gone.signal }).then(got.push.bind(got), () => {});
      read('seventh');
    },
  };
}

test('connections: a seventh waits until one of an invocation has been read, or ends', () =>
  run(async () => {
    const isolate = newProcess('isolate');
    const { gone, answers, got, done, read, begin: beginSeven } = sevenCalls();
    begin(isolate, beginSeven);
    begin(isolate, () => read('other invocation'));
    await simulation.sleep(1000);
    expect(done).toEqual(['other invocation']);
    answers[0]!(new Response('text'));
    await simulation.sleep(1000);
    expect([done.length, got.length]).toEqual([1, 1]);
    expect(await got[0]!.text()).toBe('text');
    await simulation.sleep(1000);
    expect(done).toEqual(['other invocation', 'seventh']);
    gone.abort();
  }));

test('connections: those of all calls of an object together; one that is given up ends', () =>
  run(async () => {
    const object = newProcess('object');
    const { gone, done, read, begin: beginSeven } = sevenCalls();
    begin(object, beginSeven);
    begin(object, () => read('other call'));
    begin(object, () => void node.kv.get('key').then(() => done.push('KV')));
    await simulation.sleep(1000);
    expect(done).toEqual([]);
    gone.abort();
    await simulation.sleep(1000);
    expect(done.sort()).toEqual(['KV', 'other call', 'seventh']);
  }));

test('limits of an invocation: 1,000 statements and operations on KV, 10,000 subrequests', () =>
  run(async () => {
    const failures = await new Promise<unknown[]>((resolve) => {
      begin(newProcess('isolate'), async () => {
        const seen: unknown[] = [];
        const most = async (calls: number, call: () => Promise<unknown>) => {
          for (let i = 0; i < calls; i++) await call();
          seen.push(await call().catch(({ message }: Error) => message));
        };
        await most(1000, () => d1.prepare('SELECT 1').first());
        await most(1000, () => node.kv.get('key'));
        const ask = connectedFetch(async () => new Response(null));
        await most(8000, () => ask(URL));
        resolve(seen);
      });
    });
    expect(failures).toEqual(Array(3).fill(expect.stringContaining('Too many')));
  }));

/** An isolate whose handler is this one, in a node of its own. */
async function openIsolate(
  fetch: (globals: Globals, waitUntil: (work: Promise<unknown>) => void) => Promise<Response>,
  atStart: (globals: Globals) => void = () => {},
) {
  const makeIsolate = (globals: Record<string, unknown>) => {
    atStart(globals as never);
    const handle = (_request: unknown, _env: unknown, { waitUntil }: ExecutionContext) =>
      fetch(globals as never, waitUntil.bind(undefined));
    return { default: { fetch: handle } } as never;
  };
  return SimulatedNode.open({ ...OPTIONS, makeIsolate });
}

interface Globals {
  Date: DateConstructor;
  performance: Performance;
  setTimeout: typeof setTimeout;
  crypto: Crypto;
  fetch: typeof fetch;
  Response: typeof Response;
}

test('clocks stand still while code runs, and are 0 before there is a request', async () => {
  const seen: unknown[] = [];
  const isolate = await openIsolate(
    async ({ Date: Clock, performance, setTimeout, Response: Answer }) => {
      const read = () => [Clock.now(), new Clock().getTime(), performance.now()];
      const before = read();
      for (const end = Date.now() + 20; Date.now() < end; ) await undefined;
      expect(read()).toEqual(before);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(read()).toEqual(before.map((time) => time + 20));
      return new Answer(null);
    },
    ({ Date: Clock, performance, setTimeout, crypto, fetch }) => {
      seen.push(Clock.now(), new Clock().getTime(), performance.now());
      expect(() => setTimeout(() => {}, 1)).toThrow('global scope');
      expect(() => crypto.randomUUID()).toThrow('global scope');
      void fetch(URL).catch(({ message }: Error) => seen.push(message));
    },
  );
  await run(async () => expect((await isolate.ask('/')).status).toBe(200));
  expect(seen).toEqual([0, 0, 0, expect.stringContaining('global scope')]);
});

test('a request ends with its answer, and what it waits for 30 seconds later', async () => {
  const done: string[] = [];
  const isolate = await openIsolate(async ({ setTimeout, Response: Answer }, waitUntil) => {
    const work = (name: string, ms: number) =>
      new Promise<void>((resolve) =>
        setTimeout(() => {
          done.push(name);
          resolve();
        }, ms),
      );
    if (done.length > 0) waitUntil(work('awaited', 20_000).then(() => work('too late', 20_000)));
    else done.push('answer');
    void work('left behind', 10_000);
    return new Answer(null);
  });
  await run(async () => {
    await isolate.ask('/');
    await simulation.sleep(60_000);
    expect(done).toEqual(['answer']);
    await isolate.ask('/');
    await simulation.sleep(60_000);
    expect(done).toEqual(['answer', 'left behind', 'awaited']);
  });
});

test('an alarm rings again where it throws or its object is reset, later each time', () =>
  run(async () => {
    const began = simulation.now;
    const rang: number[] = [];
    const seen: unknown[] = [];
    const object = new ObjectDouble(simulation, 'alarm', (ctx) => {
      const { storage } = ctx as { storage: DurableObjectStorage };
      return {
        set: () => storage.setAlarm(began),
        alarm: async () => {
          const times = rang.push(simulation.now);
          seen.push(await storage.getAlarm());
          if (times === 1) throw new Error('the first time');
          if (times > 2) return;
          simulation.after(0, () => object.kill());
          await new Promise(() => {});
        },
      };
    });
    await (object.stub as { set(): Promise<void> }).set();
    await simulation.sleep(60_000);
    const waits = rang.slice(1).map((at, i) => Math.floor((at - rang[i]!) / 1000));
    expect(waits).toEqual([2, 4]);
    expect(seen).toEqual([null, null, null]);
  }));
