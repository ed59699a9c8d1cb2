/**
 * The follower of the running Worker against a double of a HORNET node on this machine: how fast it
 * catches up, and how long a big milestone takes.
 *
 * Times are taken where the requests arrive, in the double. The follower requests a milestone as
 * soon as it has committed the one before, and the tips as soon as it has committed the last one.
 */
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import type { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import { openDatabase } from '../../test/support/edge/d1-file.ts';
import type { Edge } from '../../test/support/edge/edge.ts';
import { varsOf } from '../../test/support/edge/follow-network.ts';
import { OUR_ISOLATE, readHeaps } from '../../test/support/edge/heap.ts';
import { NodeDouble } from '../../test/support/hornet-double/hornet-double.ts';
import { lastIndex, ledgerAt, type Network } from '../../test/support/network/network-model.ts';
import type { Bench, BenchCase } from '../case.ts';
import { busyNetwork } from '../tools/busy-network.ts';
import { coneNetwork } from '../tools/cones.ts';
import { fillLedger, withNewFolder } from '../tools/ledger.ts';
import { median } from '../tools/measure.ts';
import { importNetwork } from '../tools/network-ledger.ts';
import { readApplied, withEdge } from '../tools/servers.ts';

/**
 * Of V8 where the heap is looked at. The platform limits the heap to 128 MB; without a limit V8
 * leaves garbage until there is far more.
 */
const OLD_SPACE_MB = 85;

/** After which the case fails. */
const TIMEOUT_MS = 120_000;

interface Asked {
  path: string;
  at: number;
}

interface FollowOptions {
  /** After which the case fails. */
  timeoutMs?: number;
  /** Milliseconds after which the upstream answers a request. */
  delay?: (path: string) => number;
  /** Called again and again while the Worker follows, with V8's inspector on. */
  watch?: (edge: Edge) => Promise<void>;
  /** Called before the Worker follows, whose log is read then; what it returns, at the end. */
  listen?: (edge: Edge) => Promise<() => Promise<void>>;
}

/** A new Worker follows the network from its genesis to its end. Returns what it requested. */
async function follow(
  { worker: folder }: Bench,
  network: Network,
  { timeoutMs = TIMEOUT_MS, delay = () => 0, watch, listen }: FollowOptions = {},
): Promise<Asked[]> {
  const asked: Asked[] = [];
  await withNewFolder(async (persistTo) => {
    await fillLedger(persistTo, (db) => importNetwork(db, network, network.genesis.index));
    await using double = await NodeDouble.start(network, {
      confirmed: lastIndex(network),
      fault: ({ path }) => {
        asked.push({ path, at: performance.now() });
        return { kind: 'late', delay: delay(path) };
      },
    });
    const vars = varsOf(network, double.url);
    const watched = watch && { inspect: true, oldSpaceMb: OLD_SPACE_MB };
    const quiet = listen === undefined;
    await withEdge({ folder, persistTo, vars, quiet, ...watched }, async (edge) => {
      const stopListening = await listen?.(edge);
      // any request wakes the follower
      await fetch(`${edge.url}/health`);
      const start = performance.now();
      // the tips are requested when no milestone is left to apply
      while (!asked.some(isTips)) {
        assert.ok(
          performance.now() - start < timeoutMs,
          'the follower did not reach the last milestone in time',
        );
        await watch?.(edge);
        await sleep(10);
      }
      await stopListening?.();
    });
    await fillLedger(persistTo, (db) => assertLedger(db, network));
  });
  return asked;
}

const SELECT_UNSPENT = 'SELECT id FROM output ORDER BY id';

/** Asserts that it holds the outputs that the network's ledger has at its end. */
async function assertLedger(db: SqliteDatabase, network: Network): Promise<void> {
  const { results } = await db.prepare(SELECT_UNSPENT).all<{ id: string }>();
  const due = ledgerAt(network, lastIndex(network)).map(({ outputId }) => outputId.toHex());
  assert.deepEqual(
    results.map(({ id }) => id),
    due,
  );
}

const isMilestone = (path: string): boolean => path.includes('/milestones/by-index/');
const isBlock = ({ path }: Asked): boolean => path.includes('/blocks/');
const isTips = ({ path }: Asked): boolean => path.endsWith('/tips');

const catchUp: BenchCase = {
  name: 'catching up',
  about: 'Milestones of 40 blocks, a third of them transfers, none of them stored before.',
  run: async (bench) => {
    const asked = await follow(
      bench,
      busyNetwork({ sizes: Array(200).fill(40), transferEvery: 3 }),
    );
    const milestones = asked.filter(({ path }) => isMilestone(path));
    const rate = (milestones.length * 1000) / (asked.find(isTips)!.at - milestones[0]!.at);
    bench.report({
      name: 'milestones of 40 blocks',
      value: rate,
      unit: 'a second',
      target: { least: 10 },
    });
  },
};

/** Milestones that are not counted: the first ones of a Worker just started. */
const WARM_UP = 4;

const COUNT = 10;

/** Milestones of 1,000 transfers. */
const transfersToApply = () =>
  busyNetwork({ sizes: Array(WARM_UP + COUNT).fill(1001), transferEvery: 1 });

const apply: BenchCase = {
  name: 'applying 1,000 transfers',
  about: `From the request for the last block to the first after the commit; median of ${COUNT}.`,
  run: async (bench) => {
    const asked = await follow(bench, transfersToApply());
    // the request after the last block of a milestone is one for something else
    const times = asked.flatMap((each, i) => {
      const next = asked[i + 1];
      return isBlock(each) && next !== undefined && !isBlock(next) ? [next.at - each.at] : [];
    });
    const value = median(times.slice(WARM_UP));
    bench.report({
      name: 'a milestone of 1,000 transfers',
      value,
      unit: 'ms',
      target: { most: 200 },
    });
  },
};

const LISTENERS = 10;
const TURNS = 5;

/** Milliseconds until the next milestone, so that clients have been told of the last one. */
const PAUSE_MS = 1500;

const applyHeard: BenchCase = {
  name: 'applying while clients listen',
  about: `A milestone each ${PAUSE_MS} ms, without clients and with them, in ${TURNS} turns.`,
  run: async (bench) => {
    const alone: number[] = [];
    const heard: number[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      alone.push(await measureCommits(bench, 0));
      heard.push(await measureCommits(bench, LISTENERS));
    }
    const name = 'a milestone of 1,000 transfers';
    const unit = 'ms';
    bench.report({ name: `${name}, nobody listens`, value: median(alone), unit });
    bench.report({ name: `${name}, ${LISTENERS} clients listen`, value: median(heard), unit });
    const value = median(heard) / median(alone);
    bench.report({ name: `${name}, share`, value, unit: 'times', target: { most: 1.05 } });
  },
};

/**
 * Milliseconds from the request for a milestone's last block to its commit, by the node's log: the
 * next request may wait until clients have been told, as they are by the same thread here.
 *
 * @param listeners clients that are told of each block that a milestone references
 */
async function measureCommits(bench: Bench, listeners: number): Promise<number> {
  let log: readonly string[] = [];
  let told = 0;
  const asked = await follow(bench, transfersToApply(), {
    delay: (path) => (isMilestone(path) ? PAUSE_MS : 0),
    listen: async (edge) => {
      const clients = await Promise.all(
        Array.from({ length: listeners }, async () => {
          const client = await connectAsync(`${edge.url.replace('http', 'ws')}/api/mqtt/v1`);
          client.on('message', () => told++);
          await client.subscribeAsync(['block-metadata/referenced', 'milestone-info/confirmed']);
          return client;
        }),
      );
      return async () => {
        for (const client of clients) await client.endAsync();
        log = edge.log;
      };
    },
  });
  assert.ok(told >= listeners * COUNT * 1000, `clients were told ${told} messages`);
  const times = readApplied(log).map(({ time }) => {
    const committed = time - performance.timeOrigin;
    return committed - asked.findLast((each) => isBlock(each) && each.at < committed)!.at;
  });
  assert.equal(times.length, WARM_UP + COUNT);
  return median(times.slice(WARM_UP));
}

/** Blocks of the large milestone, its transfers, and the most that the object's heap may be. */
const LARGE = 50_000;
const MAX_HEAP_MB = 100;

const large: BenchCase = {
  name: 'following 50,000 transfers',
  about:
    'One milestone, none of its blocks stored before. The heap of the object, with its garbage.',
  run: async (bench) => {
    const heaps: number[] = [];
    const network = busyNetwork({ sizes: [2, LARGE + 1], transferEvery: 1 });
    const asked = await follow(bench, network, {
      timeoutMs: 1_800_000,
      watch: async (edge) => {
        heaps.push((await readHeaps(edge)).get(OUR_ISOLATE)! / 1e6);
        await sleep(100);
      },
    });
    // each pass asks for it anew
    const begun = asked.find(({ path }) => path.endsWith('/milestones/by-index/2'));
    const seconds = (asked.find(isTips)!.at - begun!.at) / 1000;
    const name = 'a milestone of 50,000 transfers';
    const fetched = asked.filter(isBlock).length;
    bench.report({ name: `${name}: time`, value: seconds * 1000, unit: 'ms' });
    bench.report({ name: `${name}: blocks fetched, some twice`, value: fetched, unit: '' });
    const target = { most: MAX_HEAP_MB };
    bench.report({ name: `${name}: heap`, value: Math.max(...heaps), unit: 'MB', target });
  },
};

/** Open blocks that a node serves, and how late it answers. */
const OPEN = 2000;
const LATE_MS = 30;

const openBlocks: BenchCase = {
  name: 'following open blocks',
  about: `${OPEN.toLocaleString('en')} transfers that no milestone references, without a feed.`,
  run: async (bench) => {
    for (const latency of [0, LATE_MS]) {
      bench.report({
        name: `open blocks of an upstream that answers after ${latency} ms`,
        value: await followOpen(bench, coneNetwork({ kind: 'transfers', count: OPEN }), latency),
        unit: 'a second',
      });
    }
  },
};

/** Blocks a second that a Worker stores, from the first to the last. */
async function followOpen(
  { worker: folder }: Bench,
  network: Network,
  latency: number,
): Promise<number> {
  let rate = Number.NaN;
  await withNewFolder(async (persistTo) => {
    await fillLedger(persistTo, (db) => importNetwork(db, network, network.genesis.index));
    // what the second milestone references is open until then
    const confirmed = network.genesis.index + 1;
    await using double = await NodeDouble.start(network, { confirmed, latency });
    const vars = varsOf(network, double.url);
    await withEdge({ folder, persistTo, vars }, async (edge) => {
      await fetch(`${edge.url}/health`);
      using db = openDatabase(persistTo);
      const start = performance.now();
      let first = 0;
      for (let stored = 0; stored < OPEN; ) {
        assert.ok(performance.now() - start < TIMEOUT_MS, `${stored} blocks in time`);
        await sleep(20);
        // the first milestone has none
        if (first === 0 && double.requests.some(({ path }) => path.includes('/blocks/')))
          first = performance.now();
        stored = Number(db.prepare(COUNT_STORED).get()!.stored);
      }
      rate = (OPEN * 1000) / (performance.now() - first);
    });
  });
  return rate;
}

const COUNT_STORED = `
  SELECT coalesce(sum(json_array_length(blocks)), 0) AS stored FROM pack WHERE live = 1`;

export const followingCases: readonly BenchCase[] = [apply, applyHeard, catchUp, openBlocks, large];
