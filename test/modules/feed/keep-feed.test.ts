/**
 * The feed against a double that pushes through a real broker: what comes, and what becomes of it
 * when it ends.
 */
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Feed } from '../../../src/follower/follower-part.ts';
import { type FeedOptions, keepFeed } from '../../../src/modules/feed/keep-feed.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { createRanking } from '../../../src/upstream/ask-in-turn.ts';
import { UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { openNodeSocket } from '../../support/feed/node-socket.ts';
import { NodeDouble } from '../../support/hornet-double/hornet-double.ts';
import { lastIndex } from '../../support/network/network-model.ts';
import { randomNetwork } from '../../support/network/random-network.ts';

const network = randomNetwork({ seed: 'keep feed', milestones: 5, events: 20 });
const ended: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function startDouble(): Promise<NodeDouble> {
  const double = await NodeDouble.start(network, { confirmed: 1, mqtt: true });
  ended.push(() => double.stop());
  return double;
}

function follow(doubles: readonly NodeDouble[], options: Partial<FeedOptions> = {}) {
  const taken: { kind: string; payload: string }[] = [];
  const feed = keepFeed({
    upstreams: doubles.map(({ url }) => url),
    ranking: createRanking(Date.now),
    fetch,
    openSocket: openNodeSocket,
    clock: Date.now,
    take: (kind, payload) => taken.push({ kind, payload: toHex(payload) }),
    ...options,
  });
  ended.push(() => feed.stop());
  return { feed, taken };
}

const soon = { timeout: 300_000, interval: 20 };
const toBeLive = (feed: Feed) => vi.waitFor(() => expect(feed.state()).toBe('live'), soon);
const json = (kind: string, value: unknown) => ({
  kind,
  payload: toHex(Buffer.from(JSON.stringify(value))),
});

function confirmed(index: number) {
  const { timestamp, id } = network.milestones[index - 1]!;
  return json('confirmed', { index, timestamp, milestoneId: id });
}

describe('a feed', () => {
  it('brings every block and milestone that the node comes to know, as it is', async () => {
    const double = await startDouble();
    const known = new Set([...network.blocks.keys()].filter((id) => double.node.block(id)));
    const { feed, taken } = follow([double]);
    await toBeLive(feed);
    expect(taken).toEqual([confirmed(1)]);
    for (let index = 2; index <= lastIndex(network); index++) await double.pushTo(index);
    const last = confirmed(lastIndex(network));
    await vi.waitFor(() => expect(taken.at(-1)).toEqual(last), soon);
    const payloads = (kind: string) =>
      taken.filter((each) => each.kind === kind).map(({ payload }) => payload);
    const fresh = [...network.blocks.values()].filter(({ id }) => !known.has(id));
    expect(fresh.length).toBeGreaterThan(50);
    expect(payloads('block').sort()).toEqual(fresh.map(({ bytes }) => toHex(bytes)).sort());
    expect(payloads('milestone')).toEqual(
      network.milestones.slice(1).map(({ payload }) => toHex(payload)),
    );
  });

  it('brings a block of the largest size, and 3,000 in one go', async () => {
    const double = await startDouble();
    const { feed, taken } = follow([double]);
    await toBeLive(feed);
    const large = new Uint8Array(32_768).fill(7);
    await double.mqtt!.push({ topic: 'blocks', payload: large });
    for (let i = 0; i < 3000; i++) {
      void double.mqtt!.push({ topic: 'blocks', payload: Uint8Array.of(i >> 8, i, 9) });
    }
    await vi.waitFor(() => expect(taken).toHaveLength(1 + 1 + 3000), soon);
    expect(taken[1]!.payload).toBe(toHex(large));
    expect(new Set(taken.map(({ payload }) => payload)).size).toBe(3002);
  });

  it('ends with a message that is larger than any block', async () => {
    const double = await startDouble();
    const { feed } = follow([double]);
    await toBeLive(feed);
    await double.mqtt!.push({ topic: 'blocks', payload: new Uint8Array(40_000) });
    await vi.waitFor(() => expect(feed.state()).toBe('down'), soon);
    await toBeLive(feed);
  });

  it('comes back when the connection was cut, and when the broker was gone', async () => {
    const double = await startDouble();
    const { feed, taken } = follow([double]);
    await toBeLive(feed);
    double.mqtt!.cut();
    await vi.waitFor(() => expect(feed.state()).toBe('down'), soon);
    await toBeLive(feed);
    double.mqtt!.running = false;
    double.mqtt!.cut();
    await vi.waitFor(() => expect(feed.state()).toBe('down'), soon);
    await setTimeout(2500);
    expect(feed.state()).toBe('down');
    double.mqtt!.running = true;
    await toBeLive(feed);
    taken.length = 0;
    await double.pushTo(2);
    await vi.waitFor(() => expect(taken.at(-1)).toEqual(confirmed(2)), soon);
    expect(double.mqtt!.connections).toBe(1);
  });

  it('is of the first upstream that has one, and only of that', async () => {
    const [without, second, third] = [
      await startDouble(),
      await startDouble(),
      await startDouble(),
    ];
    without.mqtt!.running = false;
    const { feed } = follow([without, second, third]);
    await toBeLive(feed);
    expect([without, second, third].map(({ mqtt }) => mqtt!.connections)).toEqual([0, 1, 0]);
  });

  it('is of the upstream that the ranking puts first', async () => {
    const doubles = [await startDouble(), await startDouble()];
    const ranking = createRanking(Date.now);
    ranking.beginWith(1);
    const { feed } = follow(doubles, { ranking });
    await toBeLive(feed);
    expect(doubles.map(({ mqtt }) => mqtt!.connections)).toEqual([0, 1]);
  });

  it('passes over an upstream that does not answer', async () => {
    const [hanging, second] = [await startDouble(), await startDouble()];
    hanging.fault = () => ({ kind: 'silence' });
    const { feed } = follow([hanging, second]);
    await toBeLive(feed);
    expect(second.mqtt!.connections).toBe(1);
  });

  it('goes to the next upstream though those before it take all the time of a search', async () => {
    const double = await startDouble();
    let hung = 0;
    const ask: typeof fetch = (url, init) => {
      if (String(url).startsWith(double.url)) return fetch(url, init);
      hung += 31_000;
      const { promise, reject } = Promise.withResolvers<Response>();
      init!.signal!.addEventListener('abort', ({ target }) =>
        reject((target as AbortSignal).reason),
      );
      return promise;
    };
    const upstreams = [...['a', 'b'].map((name) => `https://${name}.example`), double.url];
    const { feed } = follow([], { upstreams, fetch: ask, clock: () => Date.now() + hung });
    await toBeLive(feed);
  });

  it('goes to the next upstream after a connection that brought nothing', async () => {
    const [refusing, other] = [await startDouble(), await startDouble()];
    const { feed } = follow([refusing, other], {
      async openSocket(address, events, signal) {
        if (!address.url.startsWith(refusing.url)) return openNodeSocket(address, events, signal);
        setTimeout(10).then(() => events.lost('refused'));
        return { send() {}, close() {} };
      },
    });
    await toBeLive(feed);
    expect(other.mqtt!.connections).toBe(1);
  });

  it('goes to the next upstream after a message that no broker sends, whatever came before', async () => {
    const doubles = [await startDouble(), await startDouble()];
    const { feed, taken } = follow(doubles);
    await toBeLive(feed);
    await doubles[0]!.pushTo(2);
    await vi.waitFor(() => expect(taken).toContainEqual(confirmed(2)), soon);
    await doubles[0]!.mqtt!.push({ topic: 'blocks', payload: new Uint8Array(40_000) });
    await vi.waitFor(() => expect(feed.state()).toBe('down'), soon);
    await toBeLive(feed);
    expect(doubles.map(({ mqtt }) => mqtt!.connections)).toEqual([0, 1]);
  });

  it('is asked for below the path of the upstream', async () => {
    const double = await startDouble();
    const asked: string[] = [];
    const opened: string[] = [];
    follow([], {
      upstreams: ['https://node.example/some/path'],
      fetch: async (url) => {
        asked.push(String(url));
        return Response.json({ routes: ['core/v2', 'mqtt/v1'] });
      },
      openSocket: (address, ...rest) => {
        opened.push(address.url);
        return openNodeSocket({ ...address, url: `${double.url}/api/mqtt/v1` }, ...rest);
      },
    });
    await vi.waitFor(() => expect(double.mqtt!.connections).toBe(1), soon);
    expect([asked, opened]).toEqual([
      ['https://node.example/some/path/api/routes'],
      ['https://node.example/some/path/api/mqtt/v1'],
    ]);
  });

  it('sends its token to the first upstream alone', async () => {
    const sent: [string, string | null][] = [];
    follow([], {
      upstreams: ['http://a.example', 'http://b.example'],
      token: 'jwt',
      fetch: async (url, init) => {
        const { host } = new URL(String(url));
        sent.push([`asked ${host}`, new Headers(init?.headers).get('authorization')]);
        return Response.json({ routes: ['mqtt/v1'] });
      },
      openSocket: async ({ url, headers }) => {
        sent.push([`opened ${new URL(url).host}`, headers.authorization ?? null]);
        throw new UpstreamFailure('not today');
      },
    });
    await vi.waitFor(() => expect(sent.length).toBeGreaterThanOrEqual(4), soon);
    expect(sent.slice(0, 4)).toEqual([
      ['asked a.example', 'Bearer jwt'],
      ['opened a.example', 'Bearer jwt'],
      ['asked b.example', null],
      ['opened b.example', null],
    ]);
  });

  it.each<[string, () => Response]>([
    ['a status', () => new Response('', { status: 503 })],
    ['no JSON', () => new Response('<html>')],
    ['other JSON', () => Response.json({ routes: 'mqtt/v1' })],
    ['an answer without end', () => new Response('x'.repeat(100_000))],
    ['no such route', () => Response.json({ routes: ['core/v2', 'mqtt/v2'] })],
  ])('is not opened where the routes are %s', async (_, answer) => {
    const openSocket = vi.fn();
    const asked = vi.fn(async () => answer());
    const { feed } = follow([], { upstreams: ['http://a.example'], fetch: asked, openSocket });
    // once, and once more after the first pause
    await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(2), soon);
    expect(feed.state()).toBe('down');
    expect(openSocket).not.toHaveBeenCalled();
  });

  it('ends when it is stopped', async () => {
    const double = await startDouble();
    const { feed, taken } = follow([double]);
    await toBeLive(feed);
    feed.stop();
    await vi.waitFor(() => expect(double.mqtt!.connections).toBe(0), soon);
    taken.length = 0;
    await double.pushTo(2);
    await setTimeout(1500);
    expect(taken).toEqual([]);
    expect(double.mqtt!.connections).toBe(0);
  });
});
