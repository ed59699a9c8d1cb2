/**
 * Many requests and milestones through the Worker as `npm run serve` runs it: every answer right,
 * and memory that does not grow. `npm run test:slow -- serve-load` runs it with a million requests
 * and 5,000 milestones.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type LoadAnswer, LoadConnection } from '../../bench/tools/connection.ts';
import { memoryOf, workerdOf } from '../../bench/tools/process.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { collectAllGarbage, OUR_ISOLATE, readHeaps } from '../support/edge/heap.ts';
import { IN_TIME, type Info, LATE } from '../support/edge/walk-network.ts';
import { checkMetrics } from '../support/http/check-metrics.ts';
import { NFT, WHITE_FLAG } from '../support/http/contract.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { SteadyNetwork } from '../support/network/steady-network.ts';

const REQUESTS = Number(process.env.REQUESTS ?? 3000);
const MILESTONES = Number(process.env.MILESTONES ?? 12);
const CLIENTS = 4;

/** Milestones by which the ledger may be behind the network before that waits for it. */
const MAX_BEHIND = 24;

/**
 * Looks at the memory, each when garbage was collected: left to itself, V8 lets hundreds of MB lie
 * in the isolates with which miniflare plays D1.
 */
const LOOKS = 60;

/** By how much the least in the last quarter of the looks may be above that of the one before. */
const MAX_HEAP_GROWTH_MB = 4;
const MAX_PROCESS_GROWTH = 1.1;

/** Before some 600,000 requests workerd has not come to its size. */
const MANY_REQUESTS = 1_000_000;

interface Look {
  /** MB of a million bytes: of our isolate, of all, of workerd, and of miniflare's process. */
  heap: number;
  heaps: number;
  workerd: number;
  host: number;
}

it(`${REQUESTS} requests, ${MILESTONES} milestones`, async () => {
  const random = freshRandom();
  const steady = new SteadyNetwork('serve', { blocks: 5, transactions: 3, nfts: 1 }, 8);
  const { network } = steady;
  network.milestone();
  await using following = await prepareFollowing(network, { confirmed: 1 });
  const { double } = following;
  const vars = { PUBLIC_ROUTES: '*,/metrics', RETENTION_MILESTONES: '100' };
  const edge = await following.start({ asServe: true, inspect: true, vars });

  /** Which output has which NFT, by ledger index. */
  const places = new Map([0, 1].map((index) => [index, steady.nftOutputs()]));
  const nftIds = [...places.get(1)!.keys()];
  /** The newest question about a next milestone, with the true answer. */
  let proposal = propose();
  const looks: Look[] = [];
  let [answered, applied, last, late] = [0, 0, 1, 0];

  function propose(): { body: string; roots: object } {
    const { request, response } = network.propose();
    return { body: JSON.stringify(request), roots: response };
  }

  async function live(): Promise<void> {
    while (last < MILESTONES) {
      const due = answered >= (REQUESTS * last) / MILESTONES;
      if (!due || last - applied > MAX_BEHIND) {
        await sleep(5);
        continue;
      }
      await steady.makeMilestone(async () => {});
      last++;
      places.set(last, steady.nftOutputs());
      proposal = propose();
      double.confirm(last);
      double.forget();
    }
  }

  function checkLookup(nftId: string, { status, headers, body }: LoadAnswer): void {
    const ledgerIndex = Number(headers.get('x-ledger-index'));
    const place = places.get(ledgerIndex)?.get(nftId);
    expect([status, JSON.parse(body)]).toEqual([200, { ledgerIndex, items: [`0x${place}`] }]);
  }

  async function askRoots(connection: LoadConnection): Promise<void> {
    const { body: question, roots } = proposal;
    const request = connection.encode('POST', WHITE_FLAG, question);
    const { status, headers, body } = await connection.send(request);
    if (status === 200) return void expect(JSON.parse(body)).toEqual(roots);
    if (!IN_TIME && status === 500 && headers.get('x-error-detail') === LATE) return void late++;
    // the ledger is behind it
    expect(status).toBe(404);
  }

  async function askOther(connection: LoadConnection): Promise<void> {
    const path = random.pick([
      '/health',
      '/api/core/v2/info',
      '/metrics',
      '/api/core/v2/tips',
      '/none',
    ]);
    const { status } = await connection.get(path);
    expect([path, status]).toEqual([path, { '/health': 503, '/none': 404 }[path] ?? 200]);
  }

  async function client(): Promise<void> {
    const connection = new LoadConnection(edge.url);
    while (answered < REQUESTS) {
      const chance = random.below(100);
      if (chance < 1) await askRoots(connection);
      else if (chance < 3) await askOther(connection);
      else {
        const nftId = random.pick(nftIds);
        checkLookup(nftId, await connection.get(`${NFT}0x${nftId}`));
      }
      answered++;
    }
    connection.close();
  }

  async function watch(): Promise<void> {
    const connection = new LoadConnection(edge.url);
    while (answered < REQUESTS || last < MILESTONES) {
      const { status } = JSON.parse((await connection.get('/api/core/v2/info')).body) as Info;
      applied = status.confirmedMilestone.index;
      if (answered >= (REQUESTS * looks.length) / LOOKS) {
        edge.log.splice(0, edge.log.length - 100);
        await collectAllGarbage(edge);
        const heaps = await readHeaps(edge);
        looks.push({
          heap: heaps.get(OUR_ISOLATE)! / 1e6,
          heaps: heaps.values().reduce((sum, each) => sum + each, 0) / 1e6,
          workerd: memoryOf(workerdOf(edge)),
          host: memoryOf(edge.pid),
        });
      }
      await sleep(100);
    }
    connection.close();
  }

  const began = performance.now();
  const clients = Array.from({ length: CLIENTS }, client);
  try {
    await Promise.all([live(), watch(), ...clients]);
  } catch (error) {
    throw new Error(`after ${answered} requests:\n${edge.log.slice(-20).join('\n')}`, {
      cause: error,
    });
  }
  const seconds = (performance.now() - began) / 1000;
  const deadline = Date.now() + 120_000;
  const connection = new LoadConnection(edge.url);
  let samples = new Map<string, number>();
  while (samples.get('stardust_ledger_index') !== last && Date.now() < deadline) {
    await sleep(200);
    samples = checkMetrics((await connection.get('/metrics')).body);
  }
  connection.close();

  expect(samples.get('stardust_ledger_index')).toBe(last);
  expect(samples.get('stardust_milestones_applied_total')).toBe(last);
  const rows = samples.get('stardust_rows_written_total')!;
  expect(rows).toBeGreaterThan(10 * last);
  const counted = [...samples].filter(([name]) => name.startsWith('stardust_requests_total'));
  expect(counted.reduce((sum, [, value]) => sum + value, 0)).toBeGreaterThanOrEqual(REQUESTS);
  // routes and statuses, not paths
  expect(samples.size).toBeLessThan(300);

  const quarters = [0, 1, 2, 3].map((i) =>
    least(looks.slice((i * looks.length) / 4, ((i + 1) * looks.length) / 4)),
  );
  console.log(
    `${answered} requests (${late} late), ${last} milestones in ${Math.round(seconds)} s, ${rows} rows written; ` +
      `least of each quarter, MB: ${quarters.map(describe).join(', ')}; ` +
      `workerd: ${looks.map(({ workerd }) => workerd.toFixed(0)).join(' ')}; ` +
      `all heaps: ${looks.map(({ heaps }) => heaps.toFixed(0)).join(' ')}`,
  );
  if (REQUESTS < MANY_REQUESTS) return;
  const [, , third, fourth] = quarters as [Look, Look, Look, Look];
  expect(fourth.heap).toBeLessThan(third.heap + MAX_HEAP_GROWTH_MB);
  for (const name of ['workerd', 'host'] as const)
    expect(fourth[name], name).toBeLessThan(third[name] * MAX_PROCESS_GROWTH);
}, 7_200_000);

function least(looks: readonly Look[]): Look {
  const of = (name: keyof Look) => Math.min(...looks.map((look) => look[name]));
  return { heap: of('heap'), heaps: of('heaps'), workerd: of('workerd'), host: of('host') };
}

function describe({ heap, heaps, workerd, host }: Look): string {
  return `heap ${heap.toFixed(1)} of ${heaps.toFixed(0)} workerd ${workerd.toFixed(0)} host ${host.toFixed(0)}`;
}
