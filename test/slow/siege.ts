/**
 * Hostile clients of all kinds at once beside a coordinator that asks `npm run serve` for the roots
 * of each milestone. Every answer must be right and come in time. Reports latency, memory and file
 * descriptors.
 */
import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runMain } from '../../scripts/lib/process/command-line.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { startServe } from '../support/edge/npm-serve.ts';
import { WHITE_FLAG } from '../support/http/contract.ts';
import { newLife, takeStock } from '../support/network/accounts.ts';
import { somethingHappens } from '../support/network/random-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { HOSTILE_CLIENTS } from '../support/siege/hostile-clients.ts';

const MILESTONE_MS = 5000;

/** Between two things that happen in the network. */
const EVENT_MS = 100;

/** What a coordinator may wait, on two quiet cores. */
const MEDIAN_MS = 300;
const WORST_MS = 1000;

/** A coordinator gives up after this; then the answer counts as wrong. */
const QUORUM_TIMEOUT_MS = 10_000;

const USAGE = `Usage: npx node test/slow/siege.ts [--seconds N]

Hostile clients beside a coordinator, for 300 seconds by default: npm run test:slow -- siege.`;

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

async function besiege(seconds: number): Promise<void> {
  const network = new SyntheticNetwork({ seed: 'siege' });
  await using following = await prepareFollowing(network, { mqtt: true });
  const { double, persistTo, vars } = following;
  const served = await startServe(['--persist-to', persistTo, '--port', '0'], vars);
  const over = new AbortController();
  const processes: Process[] = [];
  const times: number[] = [];
  let ledgerIndex = network.genesis.index;
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
      ({ index: ledgerIndex } = network.milestone({ parents, timestamp }));
      await double.pushTo(ledgerIndex);
    };
    // before the siege
    await sleep(3000);
    for (let i = 0; i < 3; i++) {
      await ask();
      await sleep(1000);
    }
    const calm = times.splice(0).map(Math.round);
    const siege = { url: served.url, signal: over.signal, ledgerIndex: () => ledgerIndex };
    const hostile = HOSTILE_CLIENTS.map((attack) => attack(siege));
    for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
      const next = Date.now() + MILESTONE_MS;
      takeStock(life);
      while (Date.now() < next) {
        somethingHappens(life);
        await double.mqtt!.pushNews();
        await sleep(EVENT_MS);
      }
      processes.push(look(served.processes().workerd!));
      await ask();
    }
    over.abort();
    await Promise.all(hostile);
    const sorted = times.toSorted((a, b) => a - b).map(Math.round);
    const [median, worst] = [sorted[sorted.length >> 1]!, sorted.at(-1)!];
    const most = (name: keyof Process) => Math.max(...processes.map((each) => each[name]));
    console.log(
      JSON.stringify({
        answers: times.length,
        calm,
        median,
        worst,
        memory: `${most('megabytes')} MB, ${processes.at(-1)!.megabytes} MB at the end`,
        descriptors: most('descriptors'),
      }),
    );
    assert.ok(median <= MEDIAN_MS, `median ${median} ms, at most ${MEDIAN_MS}`);
    assert.ok(worst <= WORST_MS, `worst ${worst} ms, at most ${WORST_MS}`);
  } catch (error) {
    const said = served.log.filter((line) => !line.includes('"level":"info"'));
    console.error(said.slice(-20).join('\n'));
    throw error;
  } finally {
    over.abort();
    await served.stop();
  }
}

await runMain(USAGE, async (args) => {
  const { values } = parseArgs({ args, options: { seconds: { type: 'string', default: '300' } } });
  await besiege(Number(values.seconds));
  return 0;
});
