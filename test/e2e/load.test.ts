/**
 * Mixed load: both operations, asked by several clients at once, while a living network is followed and the Worker is killed now and then. No wrong answer, no
 * 5xx but while it is down, and a process that does not grow. `IN_TIME=1 MINUTES=30 npx vitest run --project e2e test/e2e/load` for the long run.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildWorker } from '../edge/bundle.ts';
import { type Edge, startEdge } from '../edge/edge.ts';
import { newLife, takeStock } from '../network/life.ts';
import { somethingHappens } from '../network/random-network.ts';
import { fullSnapshot } from '../network/snapshot.ts';
import { SyntheticNetwork } from '../network/synthetic.ts';
import { NodeDouble } from '../upstream/double.ts';
import { IN_TIME, importFiles, isLate, lookUpNft, nftsAt, nftsEver } from './walk.ts';

const MINUTES = Number(process.env.MINUTES ?? 0.5);
const CLIENTS = 4;

const folder = await mkdtemp(join(tmpdir(), 'edge-load-'));

beforeAll(() => buildWorker(join(folder, 'dist')), 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Kilobytes that workerd holds. */
function memoryOf(edge: Edge): number {
  const lines = execFileSync('ps', ['-o', 'rss=,comm=', '-g', String(edge.pid)], { encoding: 'utf8' }).split('\n');
  return Math.max(...lines.filter((line) => line.includes('workerd')).map((line) => Number.parseInt(line, 10)), 0);
}

it(`${MINUTES} minutes`, async () => {
  const network = new SyntheticNetwork({ seed: 'load' });
  const persistTo = await mkdtemp(join(folder, 'run-'));
  const file = join(persistTo, 'full_snapshot.bin');
  await writeFile(file, [...fullSnapshot(network, { target: network.genesis.index })]);
  await importFiles(persistTo, { full: file });
  await using double = await NodeDouble.start(network);
  const options = {
    folder: join(folder, 'dist'),
    persistTo,
    port: 20_000 + Math.floor(Math.random() * 10_000),
    vars: {
      UPSTREAM_URL: double.url,
      MILESTONE_PUBLIC_KEYS: network.keys.keys.map(({ publicKey }) => publicKey.toHex()).join(),
      MILESTONE_THRESHOLD: String(network.keys.threshold),
    },
  };
  let edge = await startEdge(options);
  let up = true;
  const end = Date.now() + MINUTES * 60_000;
  const asked: { request: object & { index: number }; response: object }[] = [];
  let nftIds: string[] = [];
  const places = new Map([[network.genesis.index, nftsAt(network, network.genesis.index)]]);
  const counts = { milestones: 0, nfts: 0, whiteFlags: 0, kills: 0, whileDown: 0, late: 0 };
  const memory: number[] = [];

  async function live(): Promise<void> {
    const life = newLife(network);
    while (Date.now() < end) {
      takeStock(life);
      if (network.milestones.length > 0) for (let i = 0; i < 30; i++) somethingHappens(life);
      const { request, response } = network.propose();
      const { index } = network.milestone({ parents: request.parents, timestamp: request.timestamp });
      // known before the Worker can hear of it
      places.set(index, nftsAt(network, index));
      nftIds = nftsEver(network);
      double.confirm(index);
      asked.push({ request, response });
      counts.milestones++;
      await pause(1000);
    }
  }

  /** What is asked while the Worker goes down may fail; what is answered must be right. */
  async function whileUp(ask: () => Promise<void>): Promise<void> {
    const before = edge;
    try {
      await ask();
    } catch (error) {
      if (up && before === edge) throw error;
      counts.whileDown++;
      await pause(50);
    }
  }

  async function askRoots(): Promise<void> {
    const { request, response } = asked[Math.floor(Math.random() * asked.length)]!;
    const answer = await fetch(`${edge.url}/api/core/v2/whiteflag`, { method: 'POST', body: JSON.stringify(request) });
    const body = await answer.json();
    if (!IN_TIME && isLate(answer)) return void counts.late++;
    // the newest milestones may not have been taken in yet
    if (answer.status === 404 && Number(answer.headers.get('x-ledger-index')) < request.index - 1) return;
    const lines = edge.log.filter((line) => /fails|rror/.test(line)).slice(-4);
    const heard = [answer.headers.get('x-error-detail'), ...lines].join('\n');
    expect({ index: request.index, status: answer.status, body }, heard).toEqual({
      index: request.index,
      status: 200,
      body: response,
    });
    counts.whiteFlags++;
  }

  async function askNft(): Promise<void> {
    const nftId = nftIds[Math.floor(Math.random() * nftIds.length)];
    if (nftId === undefined) return void (await pause(20));
    const answer = await lookUpNft(edge.url, nftId);
    const place = places.get(answer.ledgerIndex)!.get(nftId);
    const truth = { status: place ? 200 : 404, items: place ? [place] : null, ledgerIndex: answer.ledgerIndex };
    expect(answer).toEqual(truth);
    counts.nfts++;
  }

  async function client(ask: () => Promise<void>): Promise<void> {
    while (Date.now() < end) await (asked.length > 0 ? whileUp(ask) : pause(50));
  }

  async function killNowAndThen(): Promise<void> {
    while (Date.now() < end) {
      await pause(15_000);
      memory.push(memoryOf(edge));
      if (Date.now() > end || counts.kills >= MINUTES) continue;
      up = false;
      await edge.kill();
      edge = await startEdge(options);
      up = true;
      counts.kills++;
    }
  }

  const clients = Array.from({ length: CLIENTS }, (_, i) => client(i % 2 === 0 ? askNft : askRoots));
  await Promise.all([live(), killNowAndThen(), ...clients]);
  console.log(JSON.stringify(counts), `workerd, MB: ${memory.map((kb) => Math.round(kb / 1024)).join(' ')}`);
  await edge.stop();
}, 3_600_000);
