/** The platform's contract, by the doubles. */
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SimulatedNode } from '../node.ts';
import { bundleProduct } from './bundle.ts';
import { openCaches } from './cache.ts';
import { describePlatform, type Platform } from './contract.ts';
import { openD1 } from './d1.ts';
import { ObjectDouble } from './objects.ts';
import { Simulation } from './simulation.ts';
import { SimulatedResponse, SocketPair } from './sockets.ts';

const simulation = new Simulation('contract', Date.now());
const node = await SimulatedNode.open({
  mostOfObject: 1000,
  simulation,
  makeIsolate: await bundleProduct('usual'),
  isolateCount: 1,
  staleMs: 0,
  vars: {},
  fetch: async () => new Response(null, { status: 404 }),
});
const sqlite = await openMemory();
const d1 = openD1(simulation, {
  primary: sqlite,
  replica: () => sqlite,
  fault: () => undefined,
  crash: () => {},
  counts: { calls: 0, ofObjects: 0, mostOfRequest: 0 },
});

async function run(test: () => Promise<void>): Promise<void> {
  let isDone = false;
  const done = test().finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  while (!isDone) {
    await simulation.runUntil(simulation.now + 10);
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
});
