/**
 * The recorded networks by feed, end to end: a double of a node pushes blocks and milestones through
 * a real broker, the built Worker follows to the recorded state hash, whatever happens to the
 * messages and to the connection.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it, vi } from 'vitest';
import { openDatabase, readStateHash } from '../support/edge/d1-file.ts';
import { type Edge, startEdge } from '../support/edge/edge.ts';
import { ask, importSnapshot, untilLedger } from '../support/edge/walk-network.ts';
import { NodeDouble } from '../support/hornet-double/hornet-double.ts';
import {
  corruptEvery,
  type Disturbance,
  doubleEvery,
  dropEvery,
  reorderEvery,
} from '../support/hornet-double/mqtt-broker.ts';
import { lastIndex, type Network } from '../support/network/network-model.ts';
import {
  type RecordedName,
  recordedNetwork,
  recordedQuestions,
} from '../support/network/recorded-network.ts';

const STATE_HASHES: Partial<Record<RecordedName, string>> = {
  'network-a': '0x577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df',
  'network-c': '0x5d8c90245d379f5b3ac95b3428e8f97f7cecd137b21591cbc995c97b64c580e3',
  'network-n': '0xb9a73bc228cb55b0f1378d91a1afa5275c5e8958aa237cb3b5a55acb74911d05',
};

const NAMES: RecordedName[] = ['network-a', 'network-c', 'network-n'];

const folder = await mkdtemp(join(tmpdir(), 'edge-feed-'));

afterAll(() => rm(folder, { recursive: true, force: true }));

interface Following {
  network: Network;
  double: NodeDouble;
  edge: Edge;
  persistTo: string;
}

async function start(name: RecordedName): Promise<Following> {
  const network = recordedNetwork(name);
  const persistTo = await mkdtemp(join(folder, name));
  await importSnapshot(name, persistTo, false);
  const double = await NodeDouble.start(network, { mqtt: true });
  const edge = await startEdge({
    folder: inject('builtWorker'),
    persistTo,
    vars: {
      UPSTREAM_URL: double.url,
      MILESTONE_PUBLIC_KEYS: network.keys.keys.map(({ publicKey }) => publicKey.toHex()).join(),
      MILESTONE_THRESHOLD: String(network.keys.threshold),
    },
  });
  await untilLedger(edge.url, network.genesis.index);
  await untilFed(double);
  return { network, double, edge, persistTo };
}

async function untilFed({ mqtt }: NodeDouble): Promise<void> {
  await vi.waitFor(() => expect(mqtt!.connections).toBe(1), { timeout: 30_000, interval: 50 });
  // connected is not subscribed yet
  await new Promise((resolve) => setTimeout(resolve, 300));
}

async function pushAll(
  { network, double, edge }: Following,
  before: (index: number) => unknown = () => {},
): Promise<void> {
  for (let index = double.node.confirmed + 1; index <= lastIndex(network); index++) {
    await before(index);
    await double.pushTo(index);
    await untilLedger(edge.url, index, 40);
  }
}

async function expectRecorded(name: RecordedName, { edge, double, persistTo }: Following) {
  await edge.stop();
  await double.stop();
  expect(await readStateHash(persistTo)).toBe(STATE_HASHES[name]);
  expect(edge.log.filter((line) => /"error"|diverge|stopped/.test(line))).toEqual([]);
}

const blocksAsked = ({ requests }: NodeDouble) =>
  requests.filter(({ route }) => route.name === 'block').length;

describe.each(NAMES)('%s', (name) => {
  it('by feed alone: questions are answered, hardly a block is fetched', async () => {
    const following = await start(name);
    const { network, double, edge } = following;
    double.forget();
    for (let index = network.genesis.index + 1; index <= lastIndex(network); index++) {
      await double.pushTo(index);
      await untilLedger(edge.url, index, 40);
      for (const question of recordedQuestions(name)) {
        if (question.ledgerIndex !== index || question.status !== 200) continue;
        expect(await ask(edge.url, question)).toEqual({ status: 200, body: question.response });
      }
    }
    expect(blocksAsked(double)).toBeLessThan(network.blocks.size / 20);
    const health = await fetch(`${edge.url}/health`);
    expect(health.headers.get('x-blocks-by')).toBe('feed');
    expect(Number(health.headers.get('x-newest-block-age'))).toBeLessThan(60);
    const pushed = edge.log.filter((line) => line.includes('"pushed":true'));
    expect(pushed.length).toBeGreaterThan(lastIndex(network) * 0.8);
    await expectRecorded(name, following);
  }, 600_000);

  it.each<[string, Disturbance]>([
    ['dropped', dropEvery(10)],
    ['doubled', doubleEvery(10)],
    ['reordered', reorderEvery(10)],
    ['corrupt', corruptEvery(10)],
  ])(
    'with every tenth message %s',
    async (_, disturb) => {
      const following = await start(name);
      following.double.mqtt!.disturb = disturb;
      await pushAll(following);
      await expectRecorded(name, following);
    },
    600_000,
  );
});

describe('a connection that ends', () => {
  const name = 'network-c';

  it('is cut at random', async () => {
    const following = await start(name);
    await pushAll(following, () => {
      if (Math.random() < 0.2) following.double.mqtt!.cut();
    });
    await expectRecorded(name, following);
  }, 600_000);

  it('is gone for a while and comes back', async () => {
    const following = await start(name);
    const mqtt = following.double.mqtt!;
    const by = async () => (await fetch(`${following.edge.url}/health`)).headers.get('x-blocks-by');
    await pushAll(following, async (index) => {
      if (index === 20) {
        expect(await by()).toBe('feed');
        mqtt.running = false;
        mqtt.cut();
      }
      if (index === 40) {
        expect(await by()).toBe('polling');
        mqtt.running = true;
        await untilFed(following.double);
      }
    });
    await expectRecorded(name, following);
  }, 600_000);
});

it('is killed again and again', async () => {
  const name = 'network-c';
  const following = await start(name);
  const { double, persistTo, network } = following;
  const last = lastIndex(network);
  for (let kill = 1; kill <= 5; kill++) {
    const until = Math.ceil((last * kill) / 5);
    const pushing = (async () => {
      while (double.node.confirmed < until) await double.pushTo(double.node.confirmed + 1);
    })();
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 1500));
    await following.edge.kill();
    await pushing;
    {
      using db = openDatabase(persistTo);
      const { ledger } = db.prepare('SELECT ledger FROM head').get()!;
      const rows = db.prepare('SELECT count(*) AS count FROM milestone').get()!;
      expect(Number(rows.count) - 1).toBe(Number(ledger));
    }
    following.edge = await startEdge({
      folder: inject('builtWorker'),
      persistTo,
      vars: {
        UPSTREAM_URL: double.url,
        MILESTONE_PUBLIC_KEYS: network.keys.keys.map(({ publicKey }) => publicKey.toHex()).join(),
        MILESTONE_THRESHOLD: String(network.keys.threshold),
      },
    });
    await untilLedger(following.edge.url, until, 60);
    await untilFed(double);
  }
  await expectRecorded(name, following);
}, 600_000);
