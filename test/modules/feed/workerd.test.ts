/** The feed in workerd, whose WebSocket is another one than that of Node. */
import { setTimeout } from 'node:timers/promises';
import { build } from 'esbuild';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { NodeDouble } from '../../support/hornet-double/hornet-double.ts';
import { lastIndex } from '../../support/network/network-model.ts';
import { randomNetwork } from '../../support/network/random-network.ts';

const network = randomNetwork({ seed: 'workerd', milestones: 4, events: 20 });
/** Where the machine is not busy, some hundred milliseconds. */
const SOON_MS = 60_000;

let miniflare: Miniflare;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: ['test/support/feed/feed-probe.ts'],
    bundle: true,
    format: 'esm',
    write: false,
  });
  const contents = outputFiles[0]!.text;
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: 'feed-probe',
      modules: [{ type: 'ESModule', path: 'worker.js', contents }],
      compatibilityDate: '2026-11-01',
    }),
  );
  await miniflare.ready;
});

afterAll(() => miniflare.dispose());

interface Probed {
  states: string[];
  messages: { kind: string; payload: string }[];
}

async function probe(double: NodeDouble, messages: number): Promise<Probed> {
  const query = new URLSearchParams({ upstream: double.url, messages: `${messages}` });
  const response = await miniflare.dispatchFetch(`http://probe/?${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Probed;
}

it('brings blocks and milestones as they are', async () => {
  await using double = await NodeDouble.start(network, { confirmed: 1, mqtt: true });
  const known = [...network.blocks.keys()].filter((id) => double.node.block(id));
  const fresh = network.blocks.size - known.length;
  const milestones = lastIndex(network) - 1;
  const probing = probe(double, 1 + fresh + 2 * milestones);
  await vi.waitFor(() => expect(double.mqtt!.subscribed).toBe(1), SOON_MS);
  for (let index = 2; index <= lastIndex(network); index++) await double.pushTo(index);
  const { states, messages } = await probing;
  expect(states).toEqual(['live']);
  const payloads = (kind: string) =>
    messages.filter((each) => each.kind === kind).map(({ payload }) => payload);
  const blocks = [...network.blocks.values()].filter(({ id }) => !known.includes(id));
  expect(payloads('block').sort()).toEqual(blocks.map(({ bytes }) => bytes.toHex()).sort());
  expect(payloads('milestone')).toEqual(
    network.milestones.slice(1).map(({ payload }) => payload.toHex()),
  );
  // it says goodbye
  await vi.waitFor(() => expect(double.mqtt!.connections).toBe(0), SOON_MS);
});

it('comes back when the connection was cut', async () => {
  await using double = await NodeDouble.start(network, { confirmed: 1, mqtt: true });
  let isDone = false;
  const probing = probe(double, 3).finally(() => {
    isDone = true;
  });
  // what it was told may be lost where it is cut
  for (let times = 1; !isDone; times++) {
    const isThere = () => isDone || double.mqtt!.subscribed >= times;
    await vi.waitFor(() => expect(isThere()).toBe(true), SOON_MS);
    await setTimeout(100);
    double.mqtt!.cut();
  }
  const { messages } = await probing;
  expect(messages.map(({ kind }) => kind)).toEqual(Array(3).fill('confirmed'));
});
