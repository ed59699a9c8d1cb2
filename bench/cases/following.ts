/**
 * The follower of the running Worker, against a double of a node on this machine: how fast it catches up, and how long a big milestone takes.
 */
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Edge } from '../../test/edge/edge.ts';
import { ledgerAt, lastIndex } from '../../test/network/model.ts';
import type { SyntheticNetwork } from '../../test/network/synthetic.ts';
import { NodeDouble } from '../../test/upstream/double.ts';
import type { Bench, BenchCase } from '../case.ts';
import { type BusyOptions, busyNetwork } from '../tools/busy-network.ts';
import { fillLedger, withNewFolder } from '../tools/ledger.ts';
import { median } from '../tools/measure.ts';
import { importNetwork } from '../tools/network-ledger.ts';
import { withEdge } from '../tools/servers.ts';

/** Milliseconds after which a case gives up. */
const PATIENCE = 120_000;

interface Followed {
  edge: Edge;
  double: NodeDouble;
  /** When each milestone was applied, by what the Worker logs behind the commit; those before are done with. */
  applied(): AsyncGenerator<{ index: number; at: number }>;
}

/** Has a new Worker follow the network from its genesis to its end. */
async function follow(bench: Bench, options: BusyOptions, work: (followed: Followed) => Promise<void>): Promise<void> {
  const network = busyNetwork(options);
  await withNewFolder(async (persistTo) => {
    await fillLedger(persistTo, (db) => importNetwork(db, network, network.genesis.index));
    await using double = await NodeDouble.start(network, { confirmed: lastIndex(network) });
    const vars = {
      UPSTREAM_URL: double.url,
      MILESTONE_PUBLIC_KEYS: network.keys.keys.map(({ publicKey }) => publicKey.toHex()).join(),
      MILESTONE_THRESHOLD: String(network.keys.threshold),
    };
    await withEdge({ folder: bench.worker, persistTo, vars, quiet: false }, async (edge) => {
      // any request wakes the follower
      await fetch(`${edge.url}/health`);
      await work({ edge, double, applied: () => watchLog(edge, lastIndex(network)) });
    });
    await fillLedger(persistTo, async (db) => {
      const { results } = await db
        .prepare('SELECT id FROM output WHERE created IS NOT NULL AND spent IS NULL ORDER BY id')
        .all<{ id: string }>();
      const expected = ledgerAt(network, lastIndex(network)).map(({ outputId }) => outputId.toHex());
      assert.deepEqual(results.map(({ id }) => id), expected.sort());
    });
  });
}

async function* watchLog({ log }: Edge, last: number): AsyncGenerator<{ index: number; at: number }> {
  const start = performance.now();
  for (let read = 0; ; await sleep(1)) {
    const at = performance.now();
    assert.ok(at - start < PATIENCE, `milestone ${last} was not applied:\n${log.slice(-5).join('\n')}`);
    for (; read < log.length; read++) {
      if (!log[read]!.includes('"milestone applied"')) continue;
      const { index } = JSON.parse(log[read]!) as { index: number };
      yield { index, at };
      if (index === last) return;
    }
  }
}

const catchUp: BenchCase = {
  name: 'catching up',
  about: 'Milestones of 40 blocks, a third of them transfers, none of them stored; from the first request that wakes the follower to the last commit.',
  run: async (bench) => {
    const milestones = 200;
    await follow(bench, { milestones, blocksEach: 40, transferEvery: 3 }, async ({ applied }) => {
      const start = performance.now();
      let end = start;
      for await (const { at } of applied()) end = at;
      const rate = (milestones * 1000) / (end - start);
      bench.report({ name: 'milestones of 40 blocks', value: rate, unit: 'a second', target: { least: 10 } });
    });
  },
};

const intake: BenchCase = {
  name: 'a milestone of 1,000 transfers',
  about: 'From the moment when the upstream is asked for the last of its blocks to the log line behind the commit; median of the milestones but the first three.',
  run: async (bench) => {
    await follow(bench, { milestones: 14, blocksEach: 1001, transferEvery: 1 }, async ({ double, applied }) => {
      let asked = 0;
      double.fault = ({ path }) => {
        if (path.includes('/blocks/')) asked = performance.now();
        return undefined;
      };
      const times: number[] = [];
      let lastAsked = 0;
      const watch = setInterval(() => {
        lastAsked = asked;
      }, 1);
      for await (const { at } of applied()) times.push(at - lastAsked);
      clearInterval(watch);
      bench.report({ name: 'a milestone of 1,000 transfers', value: median(times.slice(3)), unit: 'ms', target: { most: 200 } });
    });
  },
};

export const followingCases: readonly BenchCase[] = [intake, catchUp];
