/**
 * A busy network by feed: transfers in chains that a process of its own pushes at a steady pace,
 * while questions about the next milestone are put by what our own info says.
 */
import { strict as assert } from 'node:assert';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import type { Edge } from '../../test/support/edge/edge.ts';
import { varsOf } from '../../test/support/edge/follow-network.ts';
import { collectGarbage, OUR_ISOLATE, readHeaps } from '../../test/support/edge/heap.ts';
import { readInfo } from '../../test/support/edge/walk-network.ts';
import { rootsOf } from '../../test/support/network/known-verdicts.ts';
import { lastIndex } from '../../test/support/network/network-model.ts';
import type { Bench, BenchCase } from '../case.ts';
import { LoadConnection } from '../tools/connection.ts';
import { fillLedger, withNewFolder } from '../tools/ledger.ts';
import { median, percentile } from '../tools/measure.ts';
import { importNetwork } from '../tools/network-ledger.ts';
import { memoryOf, workerdOf } from '../tools/process.ts';
import type { PushReport } from '../tools/push-flow.ts';
import { readApplied, withEdge } from '../tools/servers.ts';
import {
  CHAINS,
  FlowOracle,
  headsAt,
  keepFlow,
  readSteadyFlow,
  type SteadyFlow,
} from '../tools/steady-flow.ts';

const FLOW = { perSecond: 1000, seconds: 60, milestoneEach: 10 };

/** Milliseconds from one question to the next. */
const QUESTION_INTERVAL_MS = 250;

/** For the ledger to come to the end when all was pushed. */
const END_MS = 30_000;

interface Asked {
  request: { index: number; timestamp: number; parents: string[]; previousMilestoneId: string };
  status: number;
  body: string;
  /** Why there is no answer. */
  detail: string | undefined;
  ms: number;
  /** Whether it was put once more, as a milestone was applied in between. */
  again: boolean;
}

interface Heard {
  transfers: number;
  done?: Extract<PushReport, { kind: 'done' }>;
}

/** MB, each second. */
interface Memory {
  heap: number;
  resident: number;
  /** The heap once garbage was collected, where it was. */
  live?: number;
}

/** Seconds from one collection of garbage to the next, in a run whose length was asked for. */
const COLLECT_EACH = 10;

const flowCase: BenchCase = {
  name: 'feed',
  about:
    `${FLOW.perSecond.toLocaleString('en')} transfers a second for ${FLOW.seconds} s or --seconds, ` +
    `a milestone each ${FLOW.milestoneEach} s, and ${1000 / QUESTION_INTERVAL_MS} questions a second.`,
  run: async (bench) => {
    const file = keepFlow({ ...FLOW, ...(bench.seconds && { seconds: bench.seconds }) });
    const flow = readSteadyFlow(file);
    const script = join(import.meta.dirname, '../tools/push-flow.ts');
    const pusher = fork(script, [file, String(FLOW.perSecond)]);
    try {
      const [ready] = (await once(pusher, 'message')) as [PushReport];
      assert.ok(ready.kind === 'ready');
      const heard: Heard = { transfers: 0 };
      pusher.on('message', (report: PushReport) => {
        if (report.kind === 'pushed') heard.transfers = report.transfers;
        if (report.kind === 'done') heard.done = report;
      });
      await withNewFolder(async (persistTo) => {
        await fillLedger(persistTo, (db) => importNetwork(db, flow.network, 0));
        const vars = varsOf(flow.network, ready.url);
        const options = { folder: bench.worker, persistTo, vars, inspect: true, quiet: false };
        await withEdge(options, async (edge) => {
          await untilFed(edge);
          pusher.send('go');
          const [asked, memory] = await Promise.all([
            askAllAlong(edge, flow, heard),
            watchMemory(edge, heard, bench.seconds !== undefined),
          ]);
          await untilLedger(edge, lastIndex(flow.network));
          report(bench, flow, { asked, memory, log: edge.log, done: heard.done! });
        });
        await fillLedger(persistTo, async (db) => {
          const stored = await db.prepare(COUNT_BLOCKS).first<{ blocks: number }>();
          // the last milestone's block is open
          assert.equal(stored!.blocks, flow.network.blocks.size);
        });
      });
    } finally {
      pusher.disconnect();
    }
  },
};

const COUNT_BLOCKS = 'SELECT sum(json_array_length(blocks)) AS blocks FROM pack';

async function untilFed({ url }: Edge): Promise<void> {
  for (let i = 0; i < 200; i++) {
    const response = await fetch(`${url}/health`);
    await response.arrayBuffer();
    if (response.headers.get('x-blocks-by') === 'feed') return;
    await sleep(100);
  }
  throw new Error('feed.unavailable');
}

async function untilLedger({ url }: Edge, index: number): Promise<void> {
  const deadline = Date.now() + END_MS;
  while ((await readInfo(url)).status.confirmedMilestone.index < index) {
    assert.ok(Date.now() < deadline, 'the ledger does not come to the last milestone');
    await sleep(50);
  }
}

/** In turn about the newest blocks of all chains and of one, while blocks are pushed. */
async function askAllAlong(edge: Edge, flow: SteadyFlow, heard: Heard): Promise<Asked[]> {
  const asked: Asked[] = [];
  const connection = new LoadConnection(edge.url);
  for (let all = true; heard.done === undefined; all = !all) {
    const due = performance.now() + QUESTION_INTERVAL_MS;
    if (heard.transfers >= FLOW.perSecond) {
      const first = await askOnce(connection, flow, heard, all);
      if (first !== undefined) asked.push(first);
      if (first !== undefined && first.status !== 200) {
        const { index } = await readIndex(connection);
        assert.notEqual(index + 1, first.request.index, `${first.status}: ${first.detail}`);
        const second = await askOnce(connection, flow, heard, all);
        if (second !== undefined) asked.push({ ...second, again: true });
      }
    }
    await sleep(Math.max(0, due - performance.now()));
  }
  connection.close();
  return asked;
}

async function readIndex(connection: LoadConnection) {
  const { body } = await connection.get('/api/core/v2/info');
  return JSON.parse(body).status.confirmedMilestone as {
    index: number;
    timestamp: number;
    milestoneId: string;
  };
}

/** About the newest blocks of all chains, or of one; undefined when there will be none any more. */
async function askOnce(
  connection: LoadConnection,
  flow: SteadyFlow,
  heard: Heard,
  all: boolean,
): Promise<Asked | undefined> {
  const { index, timestamp, milestoneId: previousMilestoneId } = await readIndex(connection);
  // each of these is upon that milestone's block
  while (heard.transfers < flow.milestonesAt[index - 1]! + CHAINS) {
    if (heard.done !== undefined) return undefined;
    await sleep(5);
  }
  const parents = headsAt(flow, heard.transfers, all);
  const request = { index: index + 1, timestamp: timestamp + 1, parents, previousMilestoneId };
  const start = performance.now();
  const { status, headers, body } = await connection.post('/api/core/v2/whiteflag', request);
  const ms = performance.now() - start;
  return { request, status, body, detail: headers.get('x-error-detail'), ms, again: false };
}

async function watchMemory(edge: Edge, heard: Heard, collect: boolean): Promise<Memory[]> {
  const pid = workerdOf(edge);
  const memory: Memory[] = [];
  while (heard.done === undefined) {
    const heap = (await readHeaps(edge)).get(OUR_ISOLATE)! / 1e6;
    const isDue = collect && memory.length % COLLECT_EACH === COLLECT_EACH / 2;
    const live = isDue ? { live: (await collectGarbage(edge)) / 1e6 } : {};
    memory.push({ heap, resident: memoryOf(pid), ...live });
    await sleep(1000);
  }
  return memory;
}

interface Seen {
  asked: readonly Asked[];
  memory: readonly Memory[];
  log: readonly string[];
  done: NonNullable<Heard['done']>;
}

function report(bench: Bench, flow: SteadyFlow, { asked, memory, log, done }: Seen): void {
  const { transfers } = flow;
  bench.report({
    name: 'feed: transfers pushed',
    value: transfers.length / done.seconds,
    unit: 'a second',
  });
  bench.report({ name: 'feed: requests for blocks', value: done.blocksAsked, unit: '' });
  const half = memory.length >> 1;
  for (const what of ['heap', 'resident'] as const) {
    const values = memory.map((each) => each[what]);
    const [first, second] = [values.slice(0, half), values.slice(half)].map((part) =>
      Math.max(...part),
    ) as [number, number];
    bench.report({ name: `feed: ${what}, first half, most`, value: first, unit: 'MB' });
    bench.report({ name: `feed: ${what}, second half, most`, value: second, unit: 'MB' });
  }
  const live = memory.flatMap((each) => each.live ?? []);
  const third = Math.floor(live.length / 3);
  for (const [i, part] of live.length === 0 ? [] : ['first', 'second', 'last'].entries()) {
    const value = Math.min(...live.slice(i * third, (i + 1) * third));
    bench.report({ name: `feed: heap without garbage, ${part} third, least`, value, unit: 'MB' });
  }
  const applied = readApplied(log);
  const times = applied.filter(({ index }) => index > 1).map(({ ms }) => ms);
  bench.report({ name: 'feed: a milestone applied, median', value: median(times), unit: 'ms' });
  bench.report({ name: 'feed: a milestone applied, worst', value: Math.max(...times), unit: 'ms' });
  reportAnswers(bench, flow, asked);
}

function reportAnswers(bench: Bench, flow: SteadyFlow, asked: readonly Asked[]): void {
  const oracle = new FlowOracle(flow);
  const right = asked.filter(({ status }) => status === 200);
  const sized = right.map(({ request, body, ms }) => {
    const cone = oracle.answer(request.index, request.parents);
    const { inclusionMerkleRoot, appliedMerkleRoot } = rootsOf(cone);
    assert.deepEqual(JSON.parse(body), {
      inclusionMerkleRoot: toHex(inclusionMerkleRoot),
      appliedMerkleRoot: toHex(appliedMerkleRoot),
    });
    return { blocks: cone.length, ms };
  });
  bench.report({ name: 'feed: questions', value: asked.length, unit: '' });
  const failed = asked.length - right.length;
  bench.report({ name: 'feed: put once more after a milestone', value: failed, unit: '' });
  const between = (least: number, most: number) =>
    sized.filter(({ blocks }) => blocks >= least && blocks <= most).map(({ ms }) => ms);
  for (const [name, least, most, target] of [
    ['500 to 1,500', 500, 1500, 50],
    ['8,000 to 11,000', 8000, 11_000, 150],
  ] as const) {
    const times = between(least, most);
    bench.report({ name: `feed: ${name} blocks, questions`, value: times.length, unit: '' });
    bench.report({
      name: `feed: ${name} blocks, median`,
      value: median(times),
      unit: 'ms',
      target: { most: target },
    });
  }
  const isMoved = (asked: Asked, next: Asked | undefined) =>
    next === undefined || next.request.index !== asked.request.index;
  const moved = asked.filter((each, i) => isMoved(each, asked[i + 1]));
  const calm = right.filter((each) => !moved.includes(each)).map(({ ms }) => ms);
  bench.report({
    name: 'feed: between milestones, 99 %',
    value: percentile(calm, 99),
    unit: 'ms',
    target: { most: 300 },
  });
  bench.report({ name: 'feed: between milestones, worst', value: Math.max(...calm), unit: 'ms' });
  const late = moved.map(({ ms }) => ms);
  bench.report({ name: 'feed: while a milestone is applied', value: late.length, unit: '' });
  bench.report({
    name: 'feed: while a milestone is applied, median',
    value: median(late),
    unit: 'ms',
  });
  bench.report({
    name: 'feed: while a milestone is applied, worst',
    value: Math.max(...late),
    unit: 'ms',
  });
}

export const feedCases: readonly BenchCase[] = [flowCase];
