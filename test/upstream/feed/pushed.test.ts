/**
 * A network by feed, through a real broker: all of it comes to be stored, parents first, and every
 * milestone is due when its cone is there, whatever happens to the messages. Where blocks stand
 * is not the matter here: the database is a set of IDs. `npm run test:slow -- feeds` does so with
 * all recorded networks.
 */
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { unaskedFault } from '../../../src/stardust/admission.ts';
import { parseBlock } from '../../../src/stardust/block.ts';
import { toHexDigits } from '../../../src/stardust/bytes.ts';
import { keepFeed } from '../../../src/upstream/feed/keep-feed.ts';
import { createPushed, type Pushed } from '../../../src/upstream/feed/pushed.ts';
import { createRanking } from '../../../src/upstream/ranking.ts';
import { restUpstream } from '../../../src/upstream/rest-upstream.ts';
import { NodeDouble } from '../../support/hornet-double/hornet-double.ts';
import {
  corruptEvery,
  type Disturbance,
  doubleEvery,
  dropEvery,
  reorderEvery,
} from '../../support/hornet-double/mqtt-broker.ts';
import type { NodeState } from '../../support/hornet-double/node-state.ts';
import { lastIndex, type Network, ZERO_ID } from '../../support/network/network-model.ts';
import { randomNetwork } from '../../support/network/random-network.ts';
import { type RecordedName, recordedNetwork } from '../../support/network/recorded-network.ts';
import { openNodeSocket } from '../../support/upstream/node-socket.ts';

const ended: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

interface Followed {
  pushed: Pushed;
  double: NodeDouble;
  /** Hex IDs of what is stored. */
  database: Set<string>;
  /** The last milestone whose cone is stored. */
  ledger: number;
  /** Unix milliseconds of the last one. */
  moved: number;
  /** Blocks and milestones that were not brought. */
  fetched: number;
  /** Blocks that the node had before the feed began. */
  before: number;
  feedState: () => string;
}

/** Follows from the genesis, a look at what was pushed each 20 milliseconds. */
async function follow(network: Network): Promise<Followed> {
  const double = await NodeDouble.start(network, { mqtt: true });
  const { parameters } = network.genesis;
  const pushed = createPushed(
    { maxHeapBytes: 20_000_000, fault: (block) => unaskedFault(block, parameters) },
    Date.now,
    () => {},
  );
  const feed = keepFeed({
    upstreams: [double.url],
    ranking: createRanking(Date.now),
    fetch,
    openSocket: openNodeSocket,
    clock: Date.now,
    take: pushed.take,
  });
  const followed: Followed = {
    pushed,
    double,
    database: new Set([ZERO_ID.slice(2)]),
    ledger: network.genesis.index,
    moved: Date.now(),
    fetched: 0,
    before: openBlocks(double.node).length,
    feedState: feed.state,
  };
  const stopped = new AbortController();
  const ending = (async () => {
    while (!stopped.signal.aborted) {
      await step(followed);
      await setTimeout(20);
    }
  })();
  ended.push(async () => {
    stopped.abort();
    await ending;
    feed.stop();
    await double.stop();
  });
  await vi.waitFor(() => expect(double.mqtt!.connections).toBe(1));
  await vi.waitFor(() => expect(feed.state()).not.toBe('down'));
  return followed;
}

async function step(followed: Followed): Promise<void> {
  const { pushed, double, database } = followed;
  const upstream = restUpstream(double.url, { fetch, timeout: 5000, attempts: 1 });
  const fetchBlock = async (id: string) => {
    const bytes = await upstream.readBlock(id);
    const result = bytes && parseBlock(bytes);
    if (!result?.ok) return;
    followed.fetched++;
    pushed.blocks.add(result.parsed, Date.now());
  };
  const now = Date.now();
  const { blocks, parents } = pushed.blocks.next(500, now);
  pushed.blocks.looked(parents, (id) => database.has(id), now);
  for (const block of blocks) {
    if (!block.block.parents.every((parent) => database.has(toHexDigits(parent)))) continue;
    database.add(toHexDigits(block.id));
    pushed.blocks.remove([toHexDigits(block.id)]);
  }
  for (const id of pushed.blocks.missing(now - 100)) await fetchBlock(id);

  const due = followed.ledger + 1;
  if (due > double.node.confirmed) return;
  const signed = double.node.network.milestones[due - double.node.network.genesis.index - 1]!;
  const brought = pushed.milestones
    .at(due)
    .find(({ payload }) => Buffer.from(payload).equals(signed.payload));
  if (brought === undefined) {
    const told = (pushed.milestones.confirmed?.index ?? 0) >= due;
    const isComing = followed.feedState() !== 'down' && now - followed.moved < 2000;
    if (!told && isComing) return;
    followed.fetched++;
    pushed.milestones.push((await upstream.readMilestone(due))!);
    return;
  }
  const beyond = pushed.blocks.beyond(brought.parents);
  const unknown = [...beyond].filter((id) => !database.has(id));
  for (const id of unknown) await fetchBlock(id);
  if (unknown.length > 0 || brought.parents.some((id) => !database.has(id))) return;
  followed.ledger = due;
  followed.moved = now;
  pushed.milestones.applied(due);
}

const soon = { timeout: 30_000, interval: 20 };

const RECORDED: RecordedName[] =
  process.env.FEEDS === 'all' ? ['network-a', 'network-c', 'network-n'] : ['network-c'];
const networks: [string, Network][] = [
  ['random', randomNetwork({ seed: 'by feed', milestones: 10, events: 30 })],
  ...RECORDED.map((name): [string, Network] => [name, recordedNetwork(name)]),
];

/** All blocks that a milestone references. */
const referencedIn = (network: Network) =>
  [...network.blocks.values()].filter(({ referenced }) => referenced !== undefined);

/** Pushes all milestones, with all blocks; no faster than they are followed. */
async function pushAll(followed: Followed, network: Network, between: () => unknown = () => {}) {
  const { double } = followed;
  for (let index = double.node.confirmed + 1; index <= lastIndex(network); index++) {
    await vi.waitFor(() => expect(followed.ledger).toBeGreaterThan(index - 8), soon);
    await double.pushTo(index);
    await between();
  }
}

/** Blocks that the node has and no milestone that it knows references. */
function openBlocks(node: NodeState) {
  return [...node.network.blocks.values()].filter(
    ({ id, referenced }) => node.block(id) && !(referenced && referenced.index <= node.confirmed),
  );
}

async function expectWhole(followed: Followed, network: Network) {
  await vi.waitFor(() => expect(followed.ledger).toBe(lastIndex(network)), soon);
  for (const { id } of referencedIn(network))
    expect(followed.database.has(id.slice(2)), id).toBe(true);
}

describe.each(networks)('%s', (_, network) => {
  it('comes by feed alone', async () => {
    const followed = await follow(network);
    await pushAll(followed, network);
    await expectWhole(followed, network);
    expect(followed.fetched).toBeLessThanOrEqual(followed.before);
    expect(followed.pushed.blocks.counts).toMatchObject({ refused: 0, dropped: 0 });
  });

  it.each<[string, Disturbance]>([
    ['dropped', dropEvery(10)],
    ['doubled', doubleEvery(10)],
    ['reordered', reorderEvery(10)],
    ['corrupt', corruptEvery(10)],
  ])('comes with every tenth message %s', async (name, disturb) => {
    const followed = await follow(network);
    followed.double.mqtt!.disturb = disturb;
    await pushAll(followed, network);
    followed.double.mqtt!.disturb = undefined;
    await expectWhole(followed, network);
    // what was not lost is not fetched
    const lost = name === 'doubled' ? 0 : network.blocks.size / 5;
    expect(followed.fetched).toBeLessThanOrEqual(followed.before + lost);
  });
});

describe('a feed that ends', () => {
  const network = networks[0]![1];

  it('is cut again and again: the rest is fetched', async () => {
    const followed = await follow(network);
    let count = 0;
    await pushAll(followed, network, async () => {
      if (++count % 3 === 0) followed.double.mqtt!.cut();
      await setTimeout(200);
    });
    await expectWhole(followed, network);
    expect(followed.fetched).toBeGreaterThan(0);
  });

  it('is gone and comes back', async () => {
    const followed = await follow(network);
    const { mqtt } = followed.double;
    mqtt!.running = false;
    mqtt!.cut();
    for (let index = 1; index <= 5; index++) await followed.double.pushTo(index);
    await vi.waitFor(() => expect(followed.ledger).toBe(5), soon);
    const { fetched } = followed;
    expect(fetched).toBeGreaterThan(50);
    const missed = openBlocks(followed.double.node).length;
    mqtt!.running = true;
    await vi.waitFor(() => expect(mqtt!.connections).toBe(1), soon);
    await vi.waitFor(() => expect(followed.feedState()).toBe('live'), soon);
    await pushAll(followed, network);
    await expectWhole(followed, network);
    expect(followed.fetched - fetched).toBeLessThanOrEqual(missed);
  });
});
