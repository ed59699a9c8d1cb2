/**
 * Blocks a second from an upstream that answers after 30 ms: for a request, for the tips, and for
 * milestones. In this process, on SQLite and over HTTP, so that nothing else asks.
 */
import { strict as assert } from 'node:assert';
import { restUpstream } from '../../src/upstream/rest-upstream.ts';
import { NodeDouble } from '../../test/support/hornet-double/hornet-double.ts';
import {
  ask,
  followTo,
  ledgerIndex,
  type Rig,
  startLedger,
  storeNow,
  takeNext,
} from '../../test/support/ledger/ledger-harness.ts';
import { openMemory } from '../../test/support/ledger/memory-database.ts';
import { lastIndex } from '../../test/support/network/network-model.ts';
import type { SyntheticNetwork } from '../../test/support/network/synthetic-network.ts';
import type { BenchCase } from '../case.ts';
import { busyNetwork } from '../tools/busy-network.ts';

const DELAY_MS = 30;

/** Blocks of each kind of work. */
const COUNT = 300;

/** Blocks for a request, which has 1.5 seconds for them: on a slow machine too. */
const REQUESTED = 100;

/** Runs the work on a ledger at the network's first milestone. Blocks a second. */
async function measure(
  network: SyntheticNetwork,
  confirmed: number,
  work: (rig: Rig) => Promise<number>,
): Promise<number> {
  const db = await openMemory();
  const rig = await startLedger(db, network, network.genesis.index);
  while ((await ledgerIndex(db)) < 1) await takeNext(rig, db);
  await using double = await NodeDouble.start(network, {
    confirmed,
    fault: () => ({ kind: 'late', delay: DELAY_MS }),
  });
  const options = { fetch: (...request: Parameters<typeof fetch>) => fetch(...request) };
  const upstream = restUpstream(double.url, { ...options, timeout: 10_000, attempts: 1 });
  rig.following.upstreams = [upstream];
  const start = performance.now();
  const blocks = await work({ ...rig, upstream });
  return (blocks * 1000) / (performance.now() - start);
}

/** A network at its first milestone, with so many open blocks. */
function withOpenBlocks(count: number): SyntheticNetwork {
  const network = busyNetwork({ sizes: [2], transferEvery: 3 });
  for (let i = 0; i < count; i++) network.note();
  return network;
}

const fetching: BenchCase = {
  name: 'fetching from an upstream of 30 ms',
  about: `${REQUESTED} blocks for a request; ${COUNT} below the tips, and for milestones of 100.`,
  run: async (bench) => {
    const asked = withOpenBlocks(REQUESTED);
    const { request, response, cone } = asked.propose();
    const forRequest = await measure(asked, 1, async (rig) => {
      const answer = await ask(rig, request, { upstreams: [rig.upstream] });
      assert.deepEqual(answer, response);
      return cone.length;
    });
    bench.report({ name: 'blocks for a request', value: forRequest, unit: 'a second' });

    const open = withOpenBlocks(COUNT);
    const forTips = await measure(open, 1, async (rig) => {
      let stored = 0;
      // not every block is below one of the tips that the double names
      while (stored < COUNT / 2) stored += await storeNow(rig, rig.db);
      return stored;
    });
    bench.report({ name: 'blocks below the tips', value: forTips, unit: 'a second' });

    const long = busyNetwork({ sizes: [2, ...Array(COUNT / 100).fill(100)], transferEvery: 3 });
    const followed = await measure(long, lastIndex(long), async (rig) => {
      await followTo(rig, lastIndex(long));
      return COUNT;
    });
    bench.report({ name: 'blocks of milestones', value: followed, unit: 'a second' });
  },
};

export const fetchingCases: readonly BenchCase[] = [fetching];
