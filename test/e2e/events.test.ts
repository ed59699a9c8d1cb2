/**
 * Events as clients have them, unchanged, against the built Worker that follows a network: mqtt.js
 * 4 and 5, @iota/mqtt.js; and over time: clients of a Worker that is killed, and another edge node
 * that follows by its feed, which `npm run test:slow -- event-feed` runs.
 */
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { MqttClient as IotaMqttClient } from '@iota/mqtt.js';
import { connectAsync } from 'mqtt';
import { describe, expect, it, vi } from 'vitest';
import type { Edge } from '../support/edge/edge.ts';
import { type Following, prepareFollowing } from '../support/edge/follow-network.ts';
import { untilLedger } from '../support/edge/walk-network.ts';
import {
  changesOf,
  coneOf,
  lastIndex,
  milestoneAt,
  type Network,
} from '../support/network/network-model.ts';
import { randomNetwork } from '../support/network/random-network.ts';
import { tellSkipped } from '../support/tools.ts';

/** mqtt.js 4, which comes with @iota/mqtt.js. */
const mqtt4: typeof import('mqtt') = createRequire(import.meta.resolve('@iota/mqtt.js'))('mqtt');

const network: Network = randomNetwork({ seed: 'listened to', milestones: 12, events: 20 });
const first = network.genesis.index;

interface Heard {
  topic: string;
  text: string;
}

const infoOf = (index: number) => {
  const { timestamp, id } = milestoneAt(network, index)!;
  return `{"index":${index},"timestamp":${timestamp},"milestoneId":"${id}"}`;
};

const until = (holds: () => unknown) => vi.waitFor(holds, { timeout: 300_000, interval: 20 });

async function start(following: Following): Promise<Edge> {
  following.double.node.confirm(first + 2);
  const edge = await following.start({ vars: { PUBLIC_ROUTES: '*,/metrics' } });
  await untilLedger(edge, first + 2);
  return edge;
}

/** What a client must have heard of the milestones after `from`, if it listens to both topics. */
function dueAfter(from: number, to: number): string[] {
  const due: string[] = [];
  for (let index = from + 1; index <= to; index++) {
    due.push(...coneOf(network, index).map(({ id }) => id), infoOf(index));
  }
  return due;
}

const said = (heard: readonly Heard[]) =>
  heard.map(({ topic, text }) =>
    topic === 'block-metadata/referenced' ? JSON.parse(text).blockId : text,
  );

const TOPICS = ['block-metadata/referenced', 'milestone-info/confirmed'];

describe('clients', () => {
  it('hear every milestone, whatever QoS they ask for; nothing that they publish is heard', async () => {
    await using following = await prepareFollowing(network);
    const edge = await start(following);
    const url = `${edge.url.replace('http', 'ws')}/api/mqtt/v1`;

    const five: Heard[] = [];
    const client5 = await connectAsync(url, { clean: false, clientId: 'five' });
    client5.on('message', (topic, payload) => five.push({ topic, text: String(payload) }));
    const granted = await client5.subscribeAsync([...TOPICS], { qos: 2 });
    expect(granted.map(({ qos }) => qos)).toEqual([0, 0]);

    const four: Heard[] = [];
    const client4 = mqtt4.connect(url, { keepalive: 60 });
    client4.on('message', (topic, payload) => four.push({ topic, text: String(payload) }));
    await new Promise((resolve) => client4.subscribe(TOPICS, { qos: 1 }, resolve));

    const iota: { index: number }[] = [];
    const outputs: unknown[] = [];
    const blocks: Uint8Array[] = [];
    // it connects anew where it hears nothing for so many seconds, and then hears the first again
    const clientIota = new IotaMqttClient(url, 30);
    clientIota.milestonesConfirmed((_topic, data) => iota.push(data));
    clientIota.blocksRaw((_topic, data) => blocks.push(data));
    const { outputId } = changesOf(network, first + 5).created[0]!;
    clientIota.output(`0x${outputId.toHex()}`, (_topic, data) => outputs.push(data));

    await client5.publishAsync('milestone-info/confirmed', 'forged', { qos: 2 });
    await client5.publishAsync('milestone-info/confirmed', 'forged', { qos: 1 });
    await until(() => expect(iota).toHaveLength(1));
    following.double.node.confirm(first + 6);
    await until(() => expect(iota.at(-1)?.index).toBe(first + 6));
    const last = lastIndex(network);
    following.double.node.confirm(last);
    await until(() => expect(iota.at(-1)?.index).toBe(last));
    for (const heard of [five, four]) {
      await until(() => expect(heard.at(-1)?.text).toBe(infoOf(last)));
      expect(heard[0]).toEqual({ topic: 'milestone-info/confirmed', text: infoOf(first + 2) });
      expect(said(heard.slice(1))).toEqual(dueAfter(first + 2, last));
    }
    expect(outputs[0]).toMatchObject({ metadata: { isSpent: false, ledgerIndex: first + 5 } });
    expect(blocks.length).toBeGreaterThan(0);

    const metrics = await (await fetch(`${edge.url}/metrics`)).text();
    expect(metrics).toContain('\nstardust_event_clients 3\n');
    expect(metrics).toMatch(/\nstardust_event_topics 7\n/);
    await client5.endAsync();
    await new Promise((resolve) => client4.end(false, {}, () => resolve(undefined)));
    clientIota.unsubscribe('');
    expect(edge.log.filter((line) => /"error"|events\./.test(line))).toEqual([]);
  });
});

if (!process.env.SLOW)
  tellSkipped('clients of events over time: npm run test:slow -- event-feed runs them');

describe.runIf(process.env.SLOW)('over time', () => {
  it('clients reconnect where the Worker was killed, and hear what comes then', async () => {
    await using following = await prepareFollowing(network);
    let edge = await start(following);
    const { port } = new URL(edge.url);
    const heard: string[] = [];
    const url = `${edge.url.replace('http', 'ws')}/api/mqtt/v1`;
    const client = await connectAsync(url, { reconnectPeriod: 100 });
    client.on('message', (_topic, payload) => heard.push(String(payload)));
    await client.subscribeAsync('milestone-info/confirmed');
    await until(() => expect(heard).toEqual([infoOf(first + 2)]));
    await edge.kill();
    const health = `${edge.url}/health`;
    // workerd goes a moment after the process that started it
    await until(() => expect(fetch(health)).rejects.toThrow());
    edge = await following.start({ port: Number(port) });
    await until(() => expect(heard).toEqual([infoOf(first + 2), infoOf(first + 2)]));
    following.double.node.confirm(first + 4);
    await until(() => expect(heard.at(-1)).toBe(infoOf(first + 4)));
    await client.endAsync(true);
  });

  it('an edge node follows another one by its feed', async () => {
    await using following = await prepareFollowing(network, { mqtt: true });
    await using other = await prepareFollowing(network);
    const edge = await start(following);
    const follower = await other.start({ vars: { UPSTREAM_URL: edge.url } });
    await untilLedger(follower, first + 2);
    await until(async () => {
      const health = await fetch(`${follower.url}/health`);
      expect(health.headers.get('x-blocks-by')).toBe('feed');
    });
    // its first look at who listens
    await sleep(11_000);
    for (let index = first + 3; index <= lastIndex(network); index++) {
      await following.double.pushTo(index);
      await untilLedger(follower, index, 40);
    }
    const applied = follower.log.filter((line) => line.includes('follower.milestone-applied'));
    const pushed = applied.filter((line) => line.includes('"pushed":true'));
    expect(pushed.length).toBeGreaterThan(lastIndex(network) / 2);
  });
});
