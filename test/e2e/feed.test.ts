/**
 * The recorded networks by feed, end to end: a double of a node pushes blocks and milestones
 * through a real broker, the built Worker follows to the recorded state hash, whatever happens to
 * the messages and to the connection. `npm run test:slow -- feeds` does so with every network and
 * every disturbance by itself.
 */
import { describe, expect, it, vi } from 'vitest';
import type { Edge } from '../support/edge/edge.ts';
import { type Following, prepareFollowing } from '../support/edge/follow-network.ts';
import { askRecorded, checkChain, expectRecordedEnd } from '../support/edge/recorded-ledger.ts';
import { untilLedger } from '../support/edge/walk-network.ts';
import type { NodeDouble } from '../support/hornet-double/hornet-double.ts';
import { type Disturbance, disturbing, WAYS } from '../support/hornet-double/mqtt-broker.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { lastIndex, type Network } from '../support/network/network-model.ts';
import { type RecordedName, recordedNetwork } from '../support/network/recorded-network.ts';
import { tellSkipped } from '../support/tools.ts';

const IN_FULL = process.env.FEEDS === 'all';

const NAMES: RecordedName[] = IN_FULL ? ['network-a', 'network-c', 'network-n'] : ['network-c'];

/** Milestones that are pushed in one go. */
const STRIDE = IN_FULL ? 1 : 8;

/** In the short test all of them happen to the same messages. */
const DISTURBANCES: [string, Disturbance][] = IN_FULL
  ? WAYS.map((way) => [way, disturbing([way], 10)])
  : [[`${WAYS.join(', ')}, and one cut`, disturbing(WAYS, 10)]];

interface Running extends Following {
  network: Network;
  edge: Edge;
}

async function start(name: RecordedName, vars: Record<string, string> = {}): Promise<Running> {
  const network = recordedNetwork(name);
  const following = await prepareFollowing(network, { mqtt: true });
  const edge = await following.start({ vars });
  await untilLedger(edge, network.genesis.index);
  await untilFed(following.double);
  return { ...following, network, edge };
}

async function untilFed({ mqtt }: NodeDouble): Promise<void> {
  await vi.waitFor(() => expect(mqtt!.connections).toBe(1), { timeout: 300_000, interval: 50 });
  // connected is not subscribed yet
  await new Promise((resolve) => setTimeout(resolve, 300));
}

async function pushAll(
  { network, double, edge }: Running,
  before: (index: number) => unknown = () => {},
): Promise<void> {
  for (const index of steps(network)) {
    await before(index);
    await double.pushTo(index);
    await untilLedger(edge, index, 40);
  }
}

/** The milestones up to which is pushed, one after the other. */
function steps(network: Network): number[] {
  const last = lastIndex(network);
  const first = network.genesis.index + STRIDE;
  const indexes: number[] = [];
  for (let index = first; index < last; index += STRIDE) indexes.push(index);
  return [...indexes, last];
}

async function expectRecorded(name: RecordedName, { edge, persistTo }: Running) {
  await edge.stop();
  await expectRecordedEnd(name, persistTo);
  expect(edge.log.filter((line) => /"error"|diverge|stopped/.test(line))).toEqual([]);
}

const blocksAsked = ({ requests }: NodeDouble) =>
  requests.filter(({ route }) => route.name === 'block').length;

/** The headers of `/health` once it says so: a pass does, at most one a second. */
function untilBlocksBy(edge: Edge, way: 'feed' | 'polling'): Promise<Headers> {
  return vi.waitFor(async () => {
    const { headers } = await fetch(`${edge.url}/health`);
    expect(headers.get('x-blocks-by')).toBe(way);
    return headers;
  }, 300_000);
}

describe.each(NAMES)('%s', (name) => {
  it('by feed alone: questions are answered, hardly a block is fetched', async () => {
    await using following = await start(name);
    const { network, double, edge } = following;
    double.forget();
    for (const index of steps(network)) {
      await double.pushTo(index);
      await untilLedger(edge, index, 40);
      // a parent that nobody knows would be fetched
      await askRecorded(name, edge.url, index, false);
    }
    expect(blocksAsked(double)).toBeLessThan(network.blocks.size / 20);
    const headers = await untilBlocksBy(edge, 'feed');
    expect(Number(headers.get('x-newest-block-age'))).toBeLessThan(60);
    const pushed = edge.log.filter((line) => line.includes('"pushed":true'));
    expect(pushed.length).toBeGreaterThan(lastIndex(network) * 0.8);
    await expectRecorded(name, following);
  }, 600_000);

  it.each(DISTURBANCES)(
    'with messages %s',
    async (_, disturb) => {
      await using following = await start(name);
      following.double.mqtt!.disturb = disturb;
      const middle = steps(following.network)[3];
      await pushAll(following, (index) => {
        if (!IN_FULL && index === middle) following.double.mqtt!.cut();
      });
      await expectRecorded(name, following);
    },
    600_000,
  );
});

it('ends with the network: no connection, nothing beyond the final milestone', async () => {
  await using following = await start('network-c', { FINAL_MILESTONE: '9' });
  const { double, edge } = following;
  await double.pushTo(9);
  await untilLedger(edge, 9, 40);
  await double.pushTo(12);
  await vi.waitFor(() => expect(double.mqtt!.connections).toBe(0), { timeout: 300_000 });
  await untilLedger(edge, 9);
}, 600_000);

if (!IN_FULL) tellSkipped('a feed whose connection ends: npm run test:slow -- feeds runs it');

describe.runIf(IN_FULL)('a connection that ends', () => {
  const name = 'network-c';

  it('is cut at random', async () => {
    const random = freshRandom();
    await using following = await start(name);
    await pushAll(following, () => random.chance(0.2) && following.double.mqtt!.cut());
    await expectRecorded(name, following);
  }, 600_000);

  it('is gone for a while and comes back', async () => {
    await using following = await start(name);
    const mqtt = following.double.mqtt!;
    await pushAll(following, async (index) => {
      if (index === 20) {
        await untilBlocksBy(following.edge, 'feed');
        mqtt.running = false;
        mqtt.cut();
      }
      if (index === 40) {
        await untilBlocksBy(following.edge, 'polling');
        mqtt.running = true;
        await untilFed(following.double);
      }
    });
    await expectRecorded(name, following);
  }, 600_000);

  it('is killed again and again', async () => {
    const random = freshRandom();
    await using following = await start(name);
    const { double, persistTo, network } = following;
    const last = lastIndex(network);
    for (let kill = 1; kill <= 5; kill++) {
      const until = Math.ceil((last * kill) / 5);
      const pushing = (async () => {
        while (double.node.confirmed < until) await double.pushTo(double.node.confirmed + 1);
      })();
      await new Promise((resolve) => setTimeout(resolve, random.below(1500)));
      await following.edge.kill();
      await pushing;
      checkChain(persistTo, network);
      following.edge = await following.start();
      await untilLedger(following.edge, until, 60);
      await untilFed(double);
    }
    await expectRecorded(name, following);
  }, 600_000);
});
