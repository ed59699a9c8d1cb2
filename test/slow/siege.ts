/**
 * Hostile clients of all kinds at once beside a coordinator that asks `npm run serve` for the roots
 * of each milestone, and beside honest subscribers; and the same minutes without hostile clients.
 * Every answer must be right and come in time. Reports figures of both, and their ratios.
 *
 * The hostile clients are in a process of their own, so that nobody waits for them and their share of
 * the two cores is known. What else the machine does is no fault of the node: times count as if each
 * process had run whenever it was ready to, by what the kernel says of how long it waited.
 */
import { strict as assert } from 'node:assert';
import { fork } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../cli/lib/process/command-line.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { startServe } from '../support/edge/npm-serve.ts';
import { WHITE_FLAG } from '../support/http/contract.ts';
import { newLife, takeStock } from '../support/network/accounts.ts';
import { somethingHappens } from '../support/network/random-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import type { Proposal, Tally } from '../support/siege/attack.ts';
import { BORDER_ATTACKS } from '../support/siege/border-attacks.ts';
import { HOSTILE_CLIENTS } from '../support/siege/hostile-clients.ts';
import { keepSubscribers } from '../support/siege/subscribers.ts';

/** A proposal, and its milestone. */
const MILESTONE_MS = 2000;

/** Between two things that happen in the network. */
const EVENT_MS = 100;

/** What must hold beside hostile clients. */
const BOUNDS = {
  /** Of the median without them, but never less than so many milliseconds. */
  medianRatio: 10,
  medianMs: 100,
  worstMs: 500,
  megabytes: 700,
  logMegabytesPerMinute: 1,
};

/** Of the time in which the node is ready to run; with less, its own deadlines say nothing. */
const LEAST_SHARE = 0.5;

/** A coordinator gives up after this. */
const QUORUM_TIMEOUT_MS = 10_000;

/** Of the node's log, where a proposal was not answered. */
const LINES_OF_LOG = 20;

const isNoInfo = (line: string) => !line.includes('"level":"info"');

const ATTACKS = { ...HOSTILE_CLIENTS, ...BORDER_ATTACKS };

const USAGE = `Usage: node tools/run.js test/slow/siege.ts [--seconds N] [--calm N] [NAME…]

Hostile clients beside a coordinator, all kinds or those that are named, for 300 seconds, after as
many without them (--calm): npm run test:slow -- siege. Exit code 1 if a bound does not hold, 2 if
the machine does too much else for a verdict.

  --attack URL  nothing but the hostile clients, against a node on this machine; in the end they tell
                what they have done

Names: ${Object.keys(ATTACKS).join(' ')}`;

/** How often the process says what its clients have done. */
const TALLY_MS = 1000;

/** To the process: what the coordinator asks, and the node's ledger index. */
interface News {
  proposal: Proposal;
  ledgerIndex: number;
}

interface Confirmed {
  index: number;
  timestamp: number;
  milestoneId: string;
}

/** Where nobody tells them: what a coordinator of the node's network would ask next. */
async function readNews(url: string): Promise<News> {
  const signal = AbortSignal.timeout(QUORUM_TIMEOUT_MS);
  const read = async <T>(path: string) =>
    (await (await fetch(`${url}/api/core/v2/${path}`, { signal })).json()) as T;
  const [{ status }, { tips }] = await Promise.all([
    read<{ status: { confirmedMilestone: Confirmed } }>('info'),
    read<{ tips: string[] }>('tips'),
  ]);
  const { index, timestamp, milestoneId } = status.confirmedMilestone;
  const next = { index: index + 1, timestamp: timestamp + 5 };
  const proposal = { ...next, parents: tips, previousMilestoneId: milestoneId };
  return { proposal, ledgerIndex: index };
}

/** What the process does, until it is ended. */
async function attack(url: string, names: readonly string[]): Promise<void> {
  const tallies: Record<string, Tally> = {};
  let news: News | undefined;
  process.on('message', (message: News) => {
    news = message;
  });
  process.on('disconnect', () => process.exit());
  if (process.send) setInterval(() => process.send!(tallies), TALLY_MS);
  else {
    const read = async () => {
      news = await readNews(url).catch(() => news);
    };
    void read();
    setInterval(read, MILESTONE_MS);
    process.on('SIGTERM', () => process.exit());
    process.on('exit', () => console.log(JSON.stringify({ hostile: tallies })));
  }
  await Promise.all(
    names.map((name, i) => {
      const tally = { done: 0, failed: 0 };
      tallies[name] = tally;
      return ATTACKS[name]!({
        ...{ url, address: `127.0.1.${i + 1}`, tally },
        ledgerIndex: () => news?.ledgerIndex ?? 0,
        proposal: () => news?.proposal,
      });
    }),
  );
}

/** Seconds in which all threads of a process ran, and in which they were ready and waited. */
function timesOf(pid: number): { ran: number; waited: number } {
  const times = { ran: 0, waited: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1');
    const [ran, waited] = text.split(' ');
    times.ran += Number(ran) / 1e9;
    times.waited += Number(waited) / 1e9;
  }
  return times;
}

/** Resident; what processes of one program map of its file is counted for the first of them. */
function megabytesOf(processes: readonly [name: string, pid: number][]): Record<string, number> {
  const programs = new Set<string>();
  return Object.fromEntries(
    processes.map(([name, pid]) => {
      const status = readFileSync(`/proc/${pid}/status`, 'latin1');
      const kilobytes = (part: string) =>
        Number(new RegExp(`^Rss${part}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
      const program = readlinkSync(`/proc/${pid}/exe`);
      const file = programs.has(program) ? 0 : kilobytes('File');
      programs.add(program);
      return [name, (kilobytes('Anon') + kilobytes('Shmem') + file) >> 10];
    }),
  );
}

/** Of TCP in the kernel, of this whole machine. */
function kernelMegabytes(): number {
  const pages = /^TCP:.* mem (\d+)/m.exec(readFileSync('/proc/net/sockstat', 'latin1'))?.[1];
  return Math.round((Number(pages) * 4096) / 1e6);
}

interface Figures {
  answers: number;
  /** No 200 within {@link QUORUM_TIMEOUT_MS}. */
  unanswered: number;
  median: number;
  worst: number;
  /** Of the time in which the node, and whoever asks it, was ready to run. */
  share: number;
  /** How many each process of the node took; `asking`: the coordinator with the upstream's double. */
  cores: Record<string, number>;
  /** Of all processes of the node at most, of each of them then, and of all at the end. */
  megabytes: { most: number; each: Record<string, number>; atEnd: number };
  kernelMegabytes: number;
  logMegabytesPerMinute: number;
  /** Of honest subscribers: refused with 503; and cut off or not answered, by how it was. */
  refused: number;
  lost: Record<string, number>;
}

async function besiege(seconds: number, calmSeconds: number, names: readonly string[]) {
  const network = new SyntheticNetwork({ seed: 'siege' });
  await using following = await prepareFollowing(network, { mqtt: true });
  const { double, persistTo, vars } = following;
  const served = await startServe(['--persist-to', persistTo, '--port', '0'], vars);
  const life = newLife(network);
  let onNews: ((news: News) => void) | undefined;
  const subscribers = keepSubscribers(served.url);

  /** Milliseconds; undefined where it was not answered. Throws where the answer is wrong. */
  async function ask(): Promise<number | undefined> {
    const { request, response } = network.propose();
    onNews?.({ proposal: request, ledgerIndex: request.index - 1 });
    const said = served.log.length;
    const asked = performance.now();
    const answer = await fetch(served.url + WHITE_FLAG, {
      method: 'POST',
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(QUORUM_TIMEOUT_MS),
    })
      .then(async (answer) => ({
        status: answer.status,
        detail: answer.headers.get('x-error-detail'),
        body: await answer.json(),
      }))
      .catch(({ message }) => ({ status: 0, body: message }));
    const ms = performance.now() - asked;
    if (answer.status === 200)
      assert.deepEqual(answer.body, response, `milestone ${request.index}`);
    else {
      console.error(`milestone ${request.index}, ${Math.round(ms)} ms:`, answer);
      console.error(served.log.slice(said).filter(isNoInfo).slice(-LINES_OF_LOG).join('\n'));
    }
    const { parents, timestamp } = request;
    const { index } = network.milestone({ parents, timestamp });
    await double.pushTo(index);
    return answer.status === 200 ? ms : undefined;
  }

  async function watch(forSeconds: number): Promise<Figures> {
    const times: number[] = [];
    let unanswered = 0;
    const kernel: number[] = [];
    const megabytes: Figures['megabytes'] = { most: 0, each: {}, atEnd: 0 };
    const processes = Object.entries({ ...served.processes(), asking: process.pid });
    const before = processes.map(([, pid]) => timesOf(pid));
    const lines = served.log.length;
    subscribers.reset();
    for (const end = Date.now() + forSeconds * 1000; Date.now() < end; ) {
      const next = Date.now() + MILESTONE_MS;
      takeStock(life);
      while (Date.now() < next) {
        somethingHappens(life);
        await double.mqtt!.pushNews();
        await sleep(EVENT_MS);
      }
      const each = megabytesOf(Object.entries(served.processes()));
      megabytes.atEnd = Object.values(each).reduce((sum, one) => sum + one, 0);
      if (megabytes.atEnd > megabytes.most)
        Object.assign(megabytes, { most: megabytes.atEnd, each });
      kernel.push(kernelMegabytes());
      const ms = await ask();
      if (ms === undefined) unanswered++;
      else times.push(ms);
    }
    const took = processes.map(([, pid], i) => {
      const { ran, waited } = timesOf(pid);
      return { ran: ran - before[i]!.ran, waited: waited - before[i]!.waited };
    });
    const sum = (name: 'ran' | 'waited') => took.reduce((all, each) => all + each[name], 0);
    const sorted = times.toSorted((a, b) => a - b).map(Math.round);
    const logged = served.log.slice(lines).reduce((sum, line) => sum + line.length + 1, 0);
    return {
      ...{ answers: times.length, unanswered },
      median: sorted[sorted.length >> 1] ?? QUORUM_TIMEOUT_MS,
      worst: sorted.at(-1) ?? QUORUM_TIMEOUT_MS,
      share: round(sum('ran') / (sum('ran') + sum('waited'))),
      cores: Object.fromEntries(
        processes.map(([name], i) => [name, round(took[i]!.ran / forSeconds)]),
      ),
      megabytes,
      kernelMegabytes: Math.max(...kernel),
      logMegabytesPerMinute: round((logged / 1e6 / forSeconds) * 60),
      ...subscribers.counts(),
    };
  }

  const failures: string[] = [];
  let isBusy = false;
  try {
    await sleep(3000);
    await ask();
    const calm = await watch(calmSeconds);
    console.log(JSON.stringify({ calm }));
    const flags = ['--attack', served.url, '--seconds', String(seconds + 60)];
    const child = fork(import.meta.filename, [...flags, ...names]);
    let tallies: Record<string, Tally> = {};
    child.on('message', (message) => {
      tallies = message as Record<string, Tally>;
    });
    onNews = (news) => child.connected && child.send(news);
    const besieged = await watch(seconds);
    const hostileCores = round(timesOf(child.pid!).ran / seconds);
    child.kill('SIGKILL');
    const ratio = round((besieged.median * besieged.share) / (calm.median * calm.share));
    console.log(JSON.stringify({ besieged, ratio, hostileCores, hostile: tallies }, undefined, 1));
    for (const name of names) if (!(tallies[name]!.done > 0)) failures.push(`${name} did nothing`);
    isBusy = Math.min(calm.share, besieged.share) < LEAST_SHARE;
    failures.push(...beyondBounds(calm, besieged, isBusy));
  } catch (error) {
    console.error(served.log.filter(isNoInfo).slice(-LINES_OF_LOG).join('\n'));
    throw error;
  } finally {
    subscribers.stop();
    await served.stop();
  }
  for (const failure of failures) console.error(failure);
  if (failures.length > 0) return 1;
  if (isBusy) console.error('no verdict on times and answers: this machine does too much else');
  return isBusy ? 2 : 0;
}

const round = (value: number) => Math.round(value * 100) / 100;

function beyondBounds(calm: Figures, besieged: Figures, isBusy: boolean): string[] {
  const { median, worst, share, megabytes } = besieged;
  const most = Math.max(BOUNDS.medianMs, BOUNDS.medianRatio * calm.median * calm.share);
  const figures: [name: string, value: number, bound: number][] = [
    ['resident memory, MB', megabytes.most, BOUNDS.megabytes],
    ['log, MB a minute', besieged.logMegabytesPerMinute, BOUNDS.logMegabytesPerMinute],
    ['503 to honest subscribers', besieged.refused, 0],
  ];
  if (!isBusy)
    figures.push(
      ['median, ms', median * share, most],
      ['worst, ms', worst * share, BOUNDS.worstMs],
      ['proposals that were not answered', besieged.unanswered, 0],
    );
  return figures
    .filter(([, value, bound]) => value > bound)
    .map(([name, value, bound]) => `${name}: ${Math.round(value)}, at most ${Math.round(bound)}`);
}

await runMain(USAGE, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '300' },
      calm: { type: 'string' },
      attack: { type: 'string' },
    },
    allowPositionals: true,
  });
  const unknown = positionals.find((name) => !Object.hasOwn(ATTACKS, name));
  if (unknown !== undefined) throw new UsageError(`no hostile client is named ${unknown}`);
  const names = positionals.length > 0 ? positionals : Object.keys(ATTACKS);
  if (values.attack !== undefined) {
    setTimeout(() => process.exit(), Number(values.seconds) * 1000);
    await attack(values.attack, names);
    return 0;
  }
  return besiege(Number(values.seconds), Number(values.calm ?? values.seconds), names);
});
