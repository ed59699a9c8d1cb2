/**
 * The clients of examples/ (docs/developers.md#events): each ends with the state of every NFT,
 * however its connections and requests fail meanwhile. The node's routes are those of the Worker,
 * over a database in memory; the events are a double's.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished, vi } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { listen } from '../support/edge/launch.ts';
import { startMqttBroker } from '../support/hornet-double/mqtt-broker.ts';
import { fetchFrom } from '../support/http/stub-node.ts';
import { startLedger, takeNext } from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { nftLives } from '../support/network/nft-lives.ts';
import { holdersOf, nftsAt } from '../support/network/nft-places.ts';
import { Random } from '../support/network/random.ts';
import { nodeOver } from '../support/nft-list/list-node.ts';
import { hasTool } from '../support/tools.ts';

const MILESTONES = 40;

/** The client in this language: as tests run it, it waits less. */
function clientIn(language: 'ts' | 'python', url: string): string {
  const file = { ts: 'nft-events.ts', python: 'nft-changes.py' }[language];
  return readFileSync(join(PROJECT, 'examples', file), 'utf8')
    .replace('http://127.0.0.1:8787', url)
    .replace('seen = 17338', 'seen = 0')
    .replace('protocolVersion: 4', 'protocolVersion: 4, reconnectPeriod: 20')
    .replace('time.sleep(5)', 'time.sleep(0.05)');
}

it('misses nothing, in TypeScript', () => followAll('ts', process.execPath), 60_000);

it.runIf(hasTool('python3'))(
  'misses nothing, in Python, which is not told of milestones',
  () => followAll('python', 'python3'),
  60_000,
);

async function followAll(language: 'ts' | 'python', interpreter: string): Promise<void> {
  const isTold = language === 'ts';
  const random = new Random('torn sockets');
  const network = nftLives('events', MILESTONES);
  const db = await openMemory();
  const rig = await startLedger(db, network, 0);
  const broker = await startMqttBroker(rig.node, 'mqtt.js');
  const ask = fetchFrom({ node: nodeOver(db) });
  let requests = 0;
  const server = createServer(async ({ url }, response) => {
    // on a busy machine a few requests ask about all of it
    const isTorn = ++requests <= 4 || random.between(0, 3) === 0;
    if (isTorn) return void response.destroy();
    const answer = await ask(url!);
    if (random.between(0, 3) === 0) return void response.destroy();
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.bytes());
  });
  server.on('upgrade', broker.upgrade);
  onTestFinished(async () => {
    await broker.stop();
    server.closeAllConnections();
    server.close();
  });

  const url = await listen(server);
  mkdirSync(join(PROJECT, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(PROJECT, 'dist', 'events-'));
  const file = join(folder, isTold ? 'program.ts' : 'program.py');
  writeFileSync(file, clientIn(language, url));
  const child = spawn(interpreter, [file]);
  onTestFinished(() => {
    child.kill();
    rmSync(folder, { recursive: true });
  });
  const known = new Map<string, string>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [nftId, outputId] = line.split(' ') as [string, string];
    if (outputId === 'burned') known.delete(nftId);
    else known.set(nftId, outputId);
  });
  let failures = 0;
  createInterface({ input: child.stderr }).on('line', () => failures++);

  const isThere = () => (isTold ? broker.connections === 1 : requests > 0);
  await vi.waitFor(() => expect(isThere()).toBe(true), { timeout: 300_000 });
  let cuts = 0;
  while (rig.node.confirmed < MILESTONES) {
    await takeNext(rig, db);
    if (random.between(0, 3) > 0) await broker.pushNews();
    if (random.between(0, 4) === 0) {
      broker.cut();
      cuts++;
    }
    await new Promise((resolve) => setTimeout(resolve, random.between(0, 30)));
  }
  const places = nftsAt(holdersOf(network), MILESTONES);
  await vi.waitFor(
    async () => {
      // as the next milestone would
      broker.cut();
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(known).toEqual(places);
      // a busy machine asks about much of it at once, and so rarely
      expect([failures, requests].map((count) => count > 3)).toEqual([true, true]);
    },
    { timeout: 300_000, interval: 100 },
  );
  expect(places.size).toBeGreaterThan(10);
  expect(cuts).toBeGreaterThan(3);
}
