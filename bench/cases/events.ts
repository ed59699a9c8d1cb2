/**
 * What clients of events cost: the requests, messages and rows of the broker that Cloudflare bills,
 * counted for a minute of the network of the worked example (docs/cloudflare.md#costs).
 */
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Edge } from '../../test/support/edge/edge.ts';
import { varsOf } from '../../test/support/edge/follow-network.ts';
import { NodeDouble } from '../../test/support/hornet-double/hornet-double.ts';
import { SteadyNetwork } from '../../test/support/network/steady-network.ts';
import type { Bench, BenchCase, Figure } from '../case.ts';
import type { Billed } from '../counted/worker.ts';
import { MONTH_SECONDS, OBJECT_GB, PRICES } from '../tools/bill.ts';
import { fillLedger, withNewFolder } from '../tools/ledger.ts';
import { median } from '../tools/measure.ts';
import { importNetwork } from '../tools/network-ledger.ts';
import { DEFAULT_RATE } from '../tools/rate.ts';
import { readApplied, withEdge } from '../tools/servers.ts';

/** workerd takes two file descriptors for each: here it may have 20,000. */
const CLIENTS = [1_000, 2_000, 9_000];

const TARGET_CLIENTS = 2_000;
const TARGET_MS = 50;

/** Clients that connect at the same time. */
const CONNECTING = 100;

const MINUTES = MONTH_SECONDS / 60;
const MILESTONES = 60 / DEFAULT_RATE.seconds;

/** MQTT 3.1.1: a clean session, 60 s, no client ID; PINGREQ. */
const CONNECT = Uint8Array.of(0x10, 12, 0, 4, ...Buffer.from('MQTT'), 4, 2, 0, 60, 0, 0);
const PING = Uint8Array.of(0xc0, 0);
const PING_RESPONSE = 0xd0;
const PUBLISH = 0x30;

const CONFIRMED = 'milestone-info/confirmed';

interface Subscriber {
  socket: WebSocket;
  /** When it was told of each milestone: Unix milliseconds. */
  confirmed: number[];
  /** Messages about its NFT. */
  moves: number;
  pongs: number;
}

function encodeSubscribe(topics: readonly string[]): Uint8Array<ArrayBuffer> {
  const filters = topics.flatMap((topic) => [0, topic.length, ...Buffer.from(topic), 0]);
  // one byte of length is enough for two topics
  assert.ok(filters.length + 2 < 128);
  return Uint8Array.of(0x82, filters.length + 2, 0, 1, ...filters);
}

/** Resolves when the first message about its subscriptions has come. */
async function open(url: string, nftId: string): Promise<Subscriber> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/mqtt/v1`, 'mqtt');
  socket.binaryType = 'arraybuffer';
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('a client was not accepted')));
  });
  const subscriber: Subscriber = { socket, confirmed: [], moves: 0, pongs: 0 };
  const told = new Promise<void>((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      const packet = Buffer.from(data as ArrayBuffer);
      if (packet[0] === PING_RESPONSE) subscriber.pongs += 1;
      else if (packet[0] !== PUBLISH) return;
      else if (!packet.includes(CONFIRMED)) subscriber.moves += 1;
      else {
        subscriber.confirmed.push(Date.now());
        resolve();
      }
    });
  });
  socket.send(CONNECT);
  socket.send(encodeSubscribe([`outputs/nft/${nftId}`, CONFIRMED]));
  await told;
  return subscriber;
}

async function openAll(url: string, nftIds: readonly string[], count: number) {
  const subscribers: Subscriber[] = [];
  while (subscribers.length < count) {
    const ids = Array.from(
      { length: CONNECTING },
      (_, i) => nftIds[(subscribers.length + i) % nftIds.length]!,
    );
    subscribers.push(...(await Promise.all(ids.map((id) => open(url, id)))));
  }
  return subscribers;
}

async function readBilled({ url }: Edge): Promise<Billed> {
  return (await fetch(`${url}/billed`)).json() as Promise<Billed>;
}

/** Milestones come, and each client pings once, evenly spread over the minute. */
async function liveForAMinute(double: NodeDouble, subscribers: readonly Subscriber[]) {
  const began = Date.now();
  const pings = subscribers.map(async ({ socket }, i) => {
    await sleep((i * 60_000) / subscribers.length);
    socket.send(PING);
  });
  const first = double.node.confirmed + 1;
  for (let i = 0; i < MILESTONES; i++) {
    double.confirm(first + i);
    await sleep(began + (i + 1) * DEFAULT_RATE.seconds * 1000 - Date.now());
  }
  await Promise.all(pings);
}

/** Milliseconds until all have got an answer to a ping, for each. */
async function timePings(subscribers: readonly Subscriber[]): Promise<number> {
  const before = subscribers.map(({ pongs }) => pongs);
  const began = performance.now();
  for (const { socket } of subscribers) socket.send(PING);
  while (subscribers.some(({ pongs }, i) => pongs === before[i])) await sleep(1);
  return (performance.now() - began) / subscribers.length;
}

/** Of each milestone: milliseconds until the last client was told of it. */
interface Told {
  /** Since the commit, by the log. */
  sinceCommit: number;
  /** Since the first client was told. */
  sinceFirst: number;
}

function timeTold(log: readonly string[], subscribers: readonly Subscriber[]): Told[] {
  const applied = readApplied(log).slice(-MILESTONES);
  return applied.map(({ time }, i) => {
    // each was told of the ledger's milestone when it subscribed
    const times = subscribers.map(({ confirmed }) => confirmed[i + 1]!);
    const last = Math.max(...times);
    return { sinceCommit: last - time, sinceFirst: last - Math.min(...times) };
  });
}

interface Minute {
  counted: Billed;
  told: readonly Told[];
  /** Milliseconds. */
  ping: number;
}

/** With what a month of such minutes costs, if nothing is left of what the plan includes. */
function reportMinute(bench: Bench, clients: number, { counted, told, ping }: Minute): void {
  const name = (what: string) => `${clients.toLocaleString('en')} clients: ${what}`;
  const report = (what: string, value: number, unit: Figure['unit'] = '') =>
    bench.report({ name: name(what), value, unit });
  const { requests, messages, rowsWritten } = counted;
  report('calls a minute', requests);
  report('messages a minute', messages);
  report('rows written a minute', rowsWritten);
  const sinceCommit = median(told.map((each) => each.sinceCommit));
  report('from commit to the last one told', sinceCommit, 'ms');
  bench.report({
    name: name('from the first one told to the last'),
    value: median(told.map((each) => each.sinceFirst)),
    unit: 'ms',
    ...(clients === TARGET_CLIENTS && { target: { most: TARGET_MS } }),
  });
  report('… at most', Math.max(...told.map((each) => each.sinceFirst)), 'ms');
  report('a ping', 1000 * ping, 'µs');
  const seconds = (MILESTONES * sinceCommit + clients * ping) / 1000;
  const billed = [
    [PRICES.objectRequests, MINUTES * (requests + messages / 20)],
    [PRICES.objectRows, MINUTES * rowsWritten],
    [PRICES.objectGbSeconds, MINUTES * seconds * OBJECT_GB],
  ] as const;
  for (const [{ name }, used] of billed) report(`a month: ${name}`, used);
  const dollars = billed.reduce((sum, [{ dollars, per }, used]) => sum + (used * dollars) / per, 0);
  report('a month, nothing included', dollars, '$');
}

async function count(bench: Bench, clients: number): Promise<void> {
  const steady = new SteadyNetwork('subscribers', DEFAULT_RATE, MILESTONES);
  const { network } = steady;
  network.milestone();
  for (let i = 0; i < MILESTONES; i++) await steady.makeMilestone(async () => {});
  await withNewFolder(async (persistTo) => {
    await fillLedger(persistTo, (db) => importNetwork(db, network, 1));
    await using double = await NodeDouble.start(network, { confirmed: 1 });
    const vars = varsOf(network, double.url);
    const options = { folder: bench.counted, persistTo, vars, quiet: false, byMiniflare: false };
    await withEdge(options, async (edge) => {
      const nftIds = [...steady.nftOutputs().keys()].map((id) => `0x${id}`);
      const subscribers = await openAll(edge.url, nftIds, clients);
      const before = await readBilled(edge);
      await liveForAMinute(double, subscribers);
      const after = await readBilled(edge);
      for (const { confirmed, moves } of subscribers) {
        assert.equal(confirmed.length, 1 + MILESTONES);
        assert.ok(moves >= 1);
      }
      const counted: Billed = {
        requests: after.requests - before.requests,
        messages: after.messages - before.messages,
        rowsWritten: after.rowsWritten - before.rowsWritten,
      };
      const told = timeTold(edge.log, subscribers);
      reportMinute(bench, clients, { counted, told, ping: await timePings(subscribers) });
      for (const { socket } of subscribers) socket.close();
    });
  });
}

export const eventCases: readonly BenchCase[] = [
  {
    name: 'subscribers',
    about:
      'A minute of the example, each client listens to an NFT and to milestones; all asserted.',
    run: async (bench) => {
      for (const clients of CLIENTS) await count(bench, clients);
    },
  },
];
