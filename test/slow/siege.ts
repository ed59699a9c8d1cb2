/**
 * Hostile clients of all kinds at once beside a coordinator that asks `npm run serve` for the roots
 * of each milestone. Every answer must be right and come in time. Reports latency, memory and file
 * descriptors.
 *
 * The hostile clients are in a thread of their own, so that the coordinator does not wait for them.
 */
import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { runMain } from '../../cli/lib/process/command-line.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { startServe } from '../support/edge/npm-serve.ts';
import { WHITE_FLAG } from '../support/http/contract.ts';
import { newLife, takeStock } from '../support/network/accounts.ts';
import { somethingHappens } from '../support/network/random-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { HOSTILE_CLIENTS, type Tally } from '../support/siege/hostile-clients.ts';

const MILESTONE_MS = 5000;

/** Between two things that happen in the network. */
const EVENT_MS = 100;

/** What a coordinator may wait, on two quiet cores. */
const MEDIAN_MS = 300;
const WORST_MS = 1000;

/** A coordinator gives up after this; then the answer counts as wrong. */
const QUORUM_TIMEOUT_MS = 10_000;

const USAGE = `Usage: node tools/run.js test/slow/siege.ts [--seconds N]

Hostile clients beside a coordinator, for 300 seconds by default: npm run test:slow -- siege.`;

/** How often the thread says what its clients have done. */
const TALLY_MS = 1000;

interface Process {
  /** Resident memory. */
  megabytes: number;
  descriptors: number;
}

function look(pid: number): Process {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]);
  return { megabytes: kilobytes >> 10, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

function summarize(seen: readonly Process[]): string {
  const most = (name: keyof Process) => Math.max(...seen.map((each) => each[name]));
  return `${most('megabytes')} MB, ${seen.at(-1)!.megabytes} MB at the end, ${most('descriptors')} descriptors`;
}

interface ThreadData {
  url: string;
  /** The node's ledger index. */
  shared: Int32Array<SharedArrayBuffer>;
}

/** What the thread does, until it is ended. */
async function attack({ url, shared }: ThreadData): Promise<void> {
  const tallies: Record<string, Tally> = {};
  const ledgerIndex = () => Atomics.load(shared, 0);
  setInterval(() => parentPort!.postMessage(tallies), TALLY_MS);
  await Promise.all(
    Object.entries(HOSTILE_CLIENTS).map(([name, attack], i) => {
      tallies[name] = { done: 0, failed: 0 };
      return attack({ url, address: `127.0.1.${i + 1}`, tally: tallies[name], ledgerIndex });
    }),
  );
}

async function besiege(seconds: number): Promise<void> {
  const network = new SyntheticNetwork({ seed: 'siege' });
  await using following = await prepareFollowing(network, { mqtt: true });
  const { double, persistTo, vars } = following;
  const served = await startServe(['--persist-to', persistTo, '--port', '0'], vars);
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const [workerd, front]: [Process[], Process[]] = [[], []];
  let hostile: Worker | undefined;
  let tallies: Record<string, Tally> = {};
  const times: number[] = [];
  try {
    const life = newLife(network);
    const ask = async (): Promise<void> => {
      const { request, response } = network.propose();
      const asked = performance.now();
      const answer = await fetch(served.url + WHITE_FLAG, {
        method: 'POST',
        body: JSON.stringify(request),
        signal: AbortSignal.timeout(QUORUM_TIMEOUT_MS),
      });
      const body = await answer.json();
      const ms = performance.now() - asked;
      const detail = answer.headers.get('x-error-detail') ?? '';
      assert.deepEqual(
        body,
        response,
        `milestone ${request.index}, ${Math.round(ms)} ms: ${detail}`,
      );
      times.push(ms);
      const { parents, timestamp } = request;
      const { index } = network.milestone({ parents, timestamp });
      await double.pushTo(index);
      Atomics.store(shared, 0, index);
    };
    // before the siege
    await sleep(3000);
    for (let i = 0; i < 3; i++) {
      await ask();
      await sleep(1000);
    }
    const calm = times.splice(0).map(Math.round);
    const data: ThreadData = { url: served.url, shared };
    hostile = new Worker(import.meta.filename, { workerData: data });
    hostile.on('message', (message) => {
      tallies = message;
    });
    hostile.on('error', (error) => {
      throw error;
    });
    for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
      const next = Date.now() + MILESTONE_MS;
      takeStock(life);
      while (Date.now() < next) {
        somethingHappens(life);
        await double.mqtt!.pushNews();
        await sleep(EVENT_MS);
      }
      workerd.push(look(served.processes().workerd!));
      front.push(look(served.processes().serve));
      await ask();
    }
    await hostile.terminate();
    const sorted = times.toSorted((a, b) => a - b).map(Math.round);
    const [median, worst] = [sorted[sorted.length >> 1]!, sorted.at(-1)!];
    console.log(
      JSON.stringify(
        {
          answers: times.length,
          calm,
          median,
          worst,
          workerd: summarize(workerd),
          front: summarize(front),
          hostile: tallies,
        },
        undefined,
        1,
      ),
    );
    for (const name of Object.keys(HOSTILE_CLIENTS))
      assert.ok(tallies[name]!.done > 0, `${name} did nothing`);
    assert.ok(median <= MEDIAN_MS, `median ${median} ms, at most ${MEDIAN_MS}`);
    assert.ok(worst <= WORST_MS, `worst ${worst} ms, at most ${WORST_MS}`);
  } catch (error) {
    const said = served.log.filter((line) => !line.includes('"level":"info"'));
    console.error(said.slice(-20).join('\n'));
    throw error;
  } finally {
    await hostile?.terminate();
    await served.stop();
  }
}

if (isMainThread)
  await runMain(USAGE, async (args) => {
    const options = { seconds: { type: 'string', default: '300' } } as const;
    const { values } = parseArgs({ args, options });
    await besiege(Number(values.seconds));
    return 0;
  });
else await attack(workerData);
