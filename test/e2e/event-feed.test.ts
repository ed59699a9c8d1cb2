/**
 * Events over time: clients of a Worker that is killed, and an edge node that follows another one by
 * its feed. In `npm run test:slow -- events`.
 */
import { connectAsync } from 'mqtt';
import { expect, it, vi } from 'vitest';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { untilLedger } from '../support/edge/walk-network.ts';
import { lastIndex, milestoneAt, type Network } from '../support/network/network-model.ts';
import { randomNetwork } from '../support/network/random-network.ts';

const network: Network = randomNetwork({ seed: 'followed', milestones: 12, events: 20 });
const first = network.genesis.index;

const infoOf = (index: number) => {
  const { timestamp, id } = milestoneAt(network, index)!;
  return `{"index":${index},"timestamp":${timestamp},"milestoneId":"${id}"}`;
};

const until = (holds: () => unknown) => vi.waitFor(holds, { timeout: 30_000, interval: 20 });

it('clients reconnect where the Worker was killed, and hear what comes then', async () => {
  await using following = await prepareFollowing(network);
  following.double.node.confirm(first + 2);
  let edge = await following.start();
  await untilLedger(edge, first + 2);
  const port = Number(new URL(edge.url).port);
  const heard: string[] = [];
  const url = `${edge.url.replace('http', 'ws')}/api/mqtt/v1`;
  const client = await connectAsync(url, { reconnectPeriod: 100 });
  client.on('message', (_topic, payload) => heard.push(String(payload)));
  await client.subscribeAsync('milestone-info/confirmed');
  await edge.kill();
  const health = `${edge.url}/health`;
  // workerd goes a moment after the process that started it
  await until(() => expect(fetch(health)).rejects.toThrow());
  edge = await following.start({ port });
  await until(() => expect(heard).toContain(infoOf(first + 2)));
  await until(() => expect(heard.length).toBeGreaterThanOrEqual(2));
  following.double.node.confirm(first + 4);
  await until(() => expect(heard.at(-1)).toBe(infoOf(first + 4)));
  await client.endAsync(true);
}, 120_000);

it('an edge node follows another one by its feed', async () => {
  await using following = await prepareFollowing(network, { mqtt: true });
  await using other = await prepareFollowing(network);
  following.double.node.confirm(first + 2);
  const edge = await following.start();
  await untilLedger(edge, first + 2);
  const follower = await other.start({ vars: { UPSTREAM_URL: edge.url } });
  await untilLedger(follower, first + 2);
  await until(async () => {
    const health = await fetch(`${follower.url}/health`);
    expect(health.headers.get('x-blocks-by')).toBe('feed');
  });
  // its first look at who listens
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  for (let index = first + 3; index <= lastIndex(network); index++) {
    await following.double.pushTo(index);
    await untilLedger(follower, index, 40);
  }
  const applied = follower.log.filter((line) => line.includes('follower.milestone-applied'));
  const pushed = applied.filter((line) => line.includes('"pushed":true'));
  expect(pushed.length).toBeGreaterThan(lastIndex(network) / 2);
}, 180_000);
