/**
 * The broker in workerd, over a ledger that follows a made-up network. What it must say is computed
 * from the network, not from the ledger.
 */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import { CLIENT_HEADER } from '../../../src/modules/events/client.ts';
import type { EventBroker } from '../../../src/modules/events/event-broker.ts';
import { encodePacket, PacketType } from '../../../src/mqtt/packets.ts';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { decode } from '../../../src/stardust/encoding/codec.ts';
import { block } from '../../../src/stardust/wire/block.ts';
import { decodeOutput, nftIdOf } from '../../../src/stardust/wire/ids.ts';
import { type Output, OutputType } from '../../../src/stardust/wire/output.ts';
import { addressIn, UnlockConditionType } from '../../../src/stardust/wire/unlock-condition.ts';
import { MqttClient } from '../../support/events/mqtt-client.ts';
import { followTo, type Rig, startLedger } from '../../support/ledger/ledger-harness.ts';
import {
  changesOf,
  coneOf,
  milestoneAt,
  type NetworkOutput,
} from '../../support/network/network-model.ts';
import { randomNetwork } from '../../support/network/random-network.ts';

const network = randomNetwork({ seed: 'events', milestones: 14, events: 25 });
const prefix = network.genesis.parameters.bech32Hrp;
const first = network.genesis.index;

let rig: Rig;
let object: DurableObjectStub<EventBroker>;
let objects = 0;

/** Whether a test has moved the ledger, or damaged it. */
let hasMoved = true;

beforeEach(async () => {
  if (hasMoved) {
    rig = await startLedger(env.LEDGER, network, first);
    await followTo(rig, first + 2);
    hasMoved = false;
  }
  object = env.EVENTS.get(env.EVENTS.idFromName(`test ${objects++}`));
});

/** @param answersClose whether it closes when the broker does, as all clients do that read */
async function open(address = '192.0.2.1', answersClose = true): Promise<MqttClient> {
  const headers = { upgrade: 'websocket', [CLIENT_HEADER]: address };
  const response = await object.fetch('http://x/', { headers });
  return new MqttClient(response.webSocket!, answersClose);
}

async function connected(clientId = '', keepAlive = 60): Promise<MqttClient> {
  const client = await open();
  await client.connect(clientId, keepAlive);
  return client;
}

/** Within the object. */
const inObject = <T>(act: (broker: EventBroker) => T): Promise<T> =>
  runInDurableObject(object as unknown as DurableObjectStub<EventBroker>, act);

/** The object's database. */
const databaseOf = (broker: EventBroker) => (broker as unknown as { env: Env }).env.LEDGER;

async function moveTo(index: number): Promise<void> {
  hasMoved = true;
  await followTo(rig, index);
}

async function apply(index: number): Promise<void> {
  await moveTo(index);
  expect(await object.applied()).toMatchObject({ published: index });
}

/** Tells blocks until they have so many bytes, at most a megabyte more. */
async function tellBytes(bytes: number): Promise<void> {
  const [largest] = [...network.blocks.values()].sort((a, b) => b.bytes.length - a.bytes.length);
  const blocks = new Array(Math.floor(1_000_000 / largest!.bytes.length)).fill(largest!.bytes);
  for (let sent = 0; sent < bytes; sent += 1_000_000) await object.stored(blocks);
}

/** JSON about a milestone as inx-mqtt writes it. */
function infoOf(index: number): string {
  const { timestamp, id } = milestoneAt(network, index)!;
  return `{"index":${index},"timestamp":${timestamp},"milestoneId":"${id}"}`;
}

it('tells the milestone on subscribing, and each one that follows', async () => {
  const client = await connected();
  const topics = ['milestone-info/latest', 'milestone-info/confirmed', 'milestones', 'no/topic'];
  expect(await client.subscribe(...topics, '#')).toEqual([0, 0, 0, 0, 0]);
  await client.ping();
  expect(client.take().map(({ topic, text }) => [topic, text])).toEqual([
    ['milestone-info/latest', infoOf(first + 2)],
    ['milestone-info/confirmed', infoOf(first + 2)],
  ]);
  await apply(first + 4);
  await client.ping();
  const told = client.take();
  expect(told.map(({ topic }) => topic)).toEqual([
    ...['milestones', 'milestone-info/latest', 'milestone-info/confirmed'],
    ...['milestones', 'milestone-info/latest', 'milestone-info/confirmed'],
  ]);
  for (const [i, index] of [first + 3, first + 4].entries()) {
    expect(told[3 * i]!.bytes).toEqual(milestoneAt(network, index)!.payload);
    expect(told[3 * i + 2]!.text).toBe(infoOf(index));
  }
});

it('tells everything of a milestone before it, to each topic that has a listener', async () => {
  const client = await connected();
  const outputs = [...network.outputs.values()];
  const idOf = (each: { outputId: Uint8Array }) => `0x${each.outputId.toHex()}`;
  const addresses = new Set(outputs.flatMap(({ bytes }) => ownersOf(decodeOutput(bytes))));
  const byUnlock = [...addresses].flatMap((address) => [
    `outputs/unlock/address/${address}`,
    `outputs/unlock/address/${address}/spent`,
    `outputs/unlock/+/${address}`,
  ]);
  const wanted = ['milestone-info/confirmed', 'block-metadata/referenced', ...byUnlock];
  await client.subscribe(...wanted);
  const nfts = await connected();
  const nftTopics = new Set(outputs.flatMap(nftTopic));
  await nfts.subscribe(...nftTopics);
  for (let index = first + 3; index <= first + 14; index++) {
    client.take();
    nfts.take();
    await apply(index);
    await Promise.all([client.ping(), nfts.ping()]);
    const told = client.take();
    expect(told.at(-1)).toMatchObject({ topic: 'milestone-info/confirmed', text: infoOf(index) });
    const metadata = told.filter(({ topic }) => topic === 'block-metadata/referenced');
    const cone = coneOf(network, index);
    expect(metadata.map(({ text }) => JSON.parse(text))).toMatchObject(
      cone.map(({ id, parents, referenced }) => ({
        blockId: id,
        parentBlockIds: [...parents],
        isSolid: true,
        referencedByMilestoneIndex: index,
        ledgerInclusionState: referenced!.state,
        whiteFlagIndex: referenced!.whiteFlagIndex,
      })),
    );
    const { created, consumed } = changesOf(network, index);
    const told2 = told.filter(({ topic }) => topic.startsWith('outputs/unlock/address/'));
    const summary = told2.map(({ topic, text }) => `${topic} ${outputIdIn(text)}`).sort();
    const due = [
      ...created.flatMap((each) => topicsOf(each, '').map((t) => `${t} ${idOf(each)}`)),
      ...consumed.flatMap((each) => topicsOf(each, '/spent').map((t) => `${t} ${idOf(each)}`)),
    ];
    expect(summary).toEqual(due.sort());
    // spent before created
    const isSpent = told2.map(({ text }) => JSON.parse(text).metadata.isSpent);
    expect(isSpent).toEqual([...isSpent].sort().reverse());
    // an NFT's messages end with its output now, or with the output that was burned
    const last = new Map(nfts.take().map(({ topic, text }) => [topic, JSON.parse(text)]));
    const changed = [...created, ...consumed].flatMap(nftTopic);
    expect(new Set(last.keys())).toEqual(new Set(changed));
    for (const [topic, { metadata }] of last) {
      const now = outputs.some(
        (each) =>
          nftTopic(each)[0] === topic &&
          each.bookedIndex <= index &&
          (each.spent === undefined || each.spent.index > index),
      );
      expect(metadata.isSpent).toBe(!now);
    }
  }
});

it('tells how an output, a block and a transaction stand on subscribing', async () => {
  await moveTo(first + 8);
  const client = await connected();
  const cone = coneOf(network, first + 8);
  const included = cone.find(({ referenced }) => referenced!.state === 'included')!;
  const created = changesOf(network, first + 8).created[0]!;
  const transactionId = `0x${created.outputId.toHex().slice(0, 64)}`;
  const outputTopic = `outputs/0x${created.outputId.toHex()}`;
  await client.subscribe(
    `block-metadata/${included.id}`,
    outputTopic,
    `transactions/${transactionId}/included-block`,
    `outputs/0x${'00'.repeat(34)}`,
  );
  await client.until(() => client.messages.length >= 3);
  await client.ping();
  const told = new Map(client.take().map((each) => [each.topic, each]));
  expect(told.size).toBe(3);
  expect(JSON.parse(told.get(outputTopic)!.text).metadata).toMatchObject({
    isSpent: false,
    ledgerIndex: first + 8,
    milestoneIndexBooked: first + 8,
  });
  expect(JSON.parse(told.get(`block-metadata/${included.id}`)!.text)).toMatchObject({
    referencedByMilestoneIndex: first + 8,
    ledgerInclusionState: 'included',
  });
  const included2 = told.get(`transactions/${transactionId}/included-block`)!.bytes;
  expect([...network.blocks.values()].map(({ bytes }) => bytes.toHex())).toContain(
    included2.toHex(),
  );
});

it('tells blocks that were stored, by what they carry', async () => {
  const client = await connected();
  await client.subscribe('blocks', 'blocks/transaction', 'blocks/tagged-data');
  expect(await object.applied()).toEqual({ published: first + 2, blocks: true });
  const blocks = [...network.blocks.values()].slice(0, 40);
  await object.stored(blocks.map(({ bytes }) => bytes));
  await client.ping();
  const told = client.take();
  const due = blocks.flatMap(({ bytes }) => {
    const { payload } = decode(block, bytes);
    const type = payload?.type;
    if (type === 6) return ['blocks', 'blocks/transaction'];
    return type === 5 ? ['blocks', 'blocks/tagged-data'] : ['blocks'];
  });
  expect(told.map(({ topic }) => topic)).toEqual(due);
  expect(told.filter(({ topic }) => topic === 'blocks').map(({ bytes }) => bytes)).toEqual(
    blocks.map(({ bytes }) => bytes),
  );
});

it('keeps topics through an eviction, and closes a client whose packet was cut by it', async () => {
  const topics = [
    `outputs/unlock/+/${[...ownersOf(decodeOutput(network.outputs.values().next().value!.bytes))][0]}`,
  ];
  const client = await connected('stays');
  await client.subscribe('milestone-info/confirmed', ...topics);
  const cut = await connected('cut');
  cut.sendBytes(encodePacket({ type: PacketType.PingRequest }).subarray(0, 1));
  await client.ping();
  await evictDurableObject(object);
  await client.ping();
  expect(await cut.untilClosed()).toMatchObject({ code: 1012 });
  client.take();
  await apply(first + 3);
  await client.ping();
  expect(client.take().at(-1)!.text).toBe(infoOf(first + 3));
  expect(await object.readCounts()).toMatchObject({
    clients: 1,
    topics: 2,
    closes: { evicted: 1 },
  });
  await client.unsubscribe('milestone-info/confirmed', ...topics);
  expect(await object.applied()).toEqual({ published: undefined, blocks: false });
});

it('closes who outlived an eviction that the milestone published last did not', async () => {
  const client = await connected();
  await client.subscribe('milestone-info/confirmed');
  await moveTo(first + 4);
  await inObject((broker) => {
    const { storage } = (broker as unknown as { ctx: DurableObjectState }).ctx;
    storage.kv.delete('published');
  });
  await evictDurableObject(object);
  await object.applied();
  expect(await client.untilClosed()).toMatchObject({ code: 1012 });
});

it('closes everybody where milestones are pruned, or the ledger was replaced', async () => {
  const client = await connected();
  await client.subscribe('milestone-info/confirmed');
  await moveTo(first + 6);
  await env.LEDGER.prepare('DELETE FROM milestone WHERE idx < ?1')
    .bind(first + 5)
    .run();
  await object.applied();
  expect(await client.untilClosed()).toEqual({ code: 1012, reason: 'ledger-moved' });
  const other = await connected();
  await other.subscribe('milestone-info/confirmed');
  await startLedger(env.LEDGER, network, first + 6);
  await object.applied();
  expect(await other.untilClosed()).toMatchObject({ code: 1012 });
});

it('has one client of an ID, acknowledges what clients publish, and says nothing of it', async () => {
  const older = await connected('same');
  const newer = await connected('same');
  expect(await older.untilClosed()).toMatchObject({ reason: 'replaced' });
  const publish = { type: PacketType.Publish, topic: 'blocks', payload: new Uint8Array(3) };
  await newer.subscribe('blocks');
  newer.send(publish);
  newer.sendBytes(fromHex('0x3206000161000501'));
  newer.sendBytes(fromHex('0x3406000161000601'));
  newer.send({ type: PacketType.PublishRelease, packetId: 6 });
  await newer.ping();
  expect(newer.packets.slice(2, -1)).toEqual([
    { type: PacketType.PublishAck, packetId: 5 },
    { type: PacketType.PublishReceived, packetId: 6 },
    { type: PacketType.PublishComplete, packetId: 6 },
  ]);
  expect(newer.messages).toEqual([]);
});

it('leaves a client alone whose ID a client of another address has', async () => {
  const [one, other] = [await open('192.0.2.1'), await open('192.0.2.2')];
  await one.connect('same');
  await other.connect('same');
  await Promise.all([one.ping(), other.ping()]);
  await evictDurableObject(object);
  const third = await open('192.0.2.3');
  await third.connect('same');
  await Promise.all([one.ping(), other.ping(), third.ping()]);
  const again = await open('192.0.2.2');
  await again.connect('same');
  expect(await other.untilClosed()).toMatchObject({ reason: 'replaced' });
  await Promise.all([one.ping(), third.ping(), again.ping()]);
  expect(await object.readCounts()).toMatchObject({ clients: 3, closes: { replaced: 1 } });
});

it.each([
  [1000, 1000],
  [3999, 3999],
  [undefined, 1005],
])('answers a close frame with code %s by one with %s', async (code, answer) => {
  const client = await open('192.0.2.1', false);
  await client.connect();
  client.close(code);
  expect(await client.untilClosed()).toMatchObject({ code: answer });
  expect(await object.readCounts()).toMatchObject({ clients: 0, closes: { gone: 1 } });
});

it.each([
  ['SUBSCRIBE', PacketType.Subscribe, 1002],
  ['UNSUBSCRIBE', PacketType.Unsubscribe, 1002],
] as const)('closes after %s with more topics than a client may have', async (_, type, code) => {
  const client = await connected();
  client.send({ type, packetId: 1, topics: new Array(401).fill('') });
  expect(await client.untilClosed()).toMatchObject({ code });
});

/** A clock on which each look takes 10 ms: so no test depends on how fast this machine is. */
function slowClock(): { restore(): void } {
  let now = Date.now();
  const spied = vi.spyOn(Date, 'now').mockImplementation(() => {
    now += 10;
    return now;
  });
  return { restore: () => spied.mockRestore() };
}

it('has a slice for each packet of topics', async () => {
  const [many, one] = [await connected(), await connected()];
  const packet = encodePacket({
    type: PacketType.Unsubscribe,
    packetId: 1,
    topics: new Array(400).fill(''),
  });
  const packets = 20;
  const clock = slowClock();
  many.sendBytes(Buffer.concat(new Array(packets).fill(packet)));
  await one.ping();
  expect(many.packets.length).toBeLessThan(1 + packets / 2);
  clock.restore();
  await many.until(() => many.packets.length === 1 + packets);
});

it('lets others have turns between the sends of one message', async () => {
  const listeners = 120;
  const clients = await Promise.all(Array.from({ length: listeners }, () => connected()));
  for (const client of clients) await client.subscribe('blocks');
  const { bytes } = network.blocks.values().next().value!;
  const most = await inObject(async (broker) => {
    const clock = slowClock();
    const messages = () => broker.readCounts().messages;
    let [isOver, most, before] = [false, 0, messages()];
    const probe = () => {
      most = Math.max(most, messages() - before);
      before = messages();
      if (!isOver) setTimeout(probe);
    };
    setTimeout(probe);
    await broker.stored(new Array(4).fill(bytes));
    isOver = true;
    probe();
    clock.restore();
    return most;
  });
  expect(most).toBeLessThan(listeners);
});

it.each([
  ['nothing before CONNECT', 'c000', 1002],
  ['a second CONNECT', '100c00044d5154540402000a0000'.repeat(2), 1002],
  ['another level', '100d00044d5154540502000a000000', 1002],
  ['a client ID left to us with a session that is not clean', '100c00044d5154540400000a0000', 1002],
  ['a length that is too long', '30ffffff7f', 1002],
  ['a packet of a broker', '100c00044d5154540402000a0000' + '9003000100', 1002],
  ['DISCONNECT', '100c00044d5154540402000a0000' + 'e000', 1000],
])('closes after %s', async (_, hex, code) => {
  const client = await open();
  client.sendBytes(fromHex(`0x${hex}`));
  expect(await client.untilClosed()).toMatchObject({ code });
});

it('closes after text', async () => {
  const client = await connected();
  client.sendText('CONNECT');
  expect(await client.untilClosed()).toMatchObject({ code: 1002 });
});

it('grants 400 topics, and closes at one more', async () => {
  const client = await connected();
  const topicOf = (i: number) => `outputs/0x${i.toString(16).padStart(68, '0')}`;
  const topics = Array.from({ length: 400 }, (_, i) => topicOf(i));
  expect(await client.subscribe(...topics)).toHaveLength(400);
  await client.subscribe(...topics);
  expect(await object.readCounts()).toMatchObject({ topics: 400 });
  await evictDurableObject(object);
  expect(await object.readCounts()).toMatchObject({ topics: 400 });
  client.send({ type: PacketType.Subscribe, packetId: 9, topics: [topicOf(400)] });
  expect(await client.untilClosed()).toMatchObject({ code: 1008, reason: 'over-limit' });
});

it('adds 500 topics to a connection, which are three rows of D1 each', async () => {
  const client = await connected();
  const rows = await inObject((broker) => {
    const db = databaseOf(broker);
    const batch = db.batch.bind(db);
    let read = 0;
    vi.spyOn(db, 'batch').mockImplementation(async (statements) => {
      const results = await batch<never>(statements);
      for (const { meta } of results) read += meta.rows_read;
      return results;
    });
    return () => read;
  });
  const topicsFrom = (from: number, count: number) =>
    Array.from(
      { length: count },
      (_, i) => `outputs/0x${(from + i).toString(16).padStart(68, '0')}`,
    );
  await client.subscribe(...topicsFrom(0, 400));
  await client.ping();
  // as reckoned in bench/tools/stranger.ts
  expect(rows()).toBeGreaterThan(400 * 2.9);
  expect(rows()).toBeLessThan(400 * 3.1);
  vi.restoreAllMocks();
  await client.unsubscribe(...topicsFrom(0, 400));
  await client.subscribe(...topicsFrom(0, 100));
  await client.ping();
  // sockets of a ledger that is over outlive the object all the time
  await evictDurableObject(object);
  client.send({ type: PacketType.Subscribe, packetId: 9, topics: topicsFrom(100, 1) });
  expect(await client.untilClosed()).toMatchObject({ code: 1008, reason: 'over-limit' });
});

it('drops the silent when it wakes', async () => {
  const now = Date.now();
  const silent = await connected('', 5);
  const alive = await connected('', 60);
  await alive.subscribe('milestone-info/latest');
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 20_000);
  await object.applied();
  clock.mockRestore();
  expect(await silent.untilClosed()).toMatchObject({ reason: 'silent' });
  await alive.ping();
});

it('drops the silent when another one comes, where nothing is followed', async () => {
  const silent = await connected('', 5);
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 20_000);
  const alive = await connected('', 60);
  clock.mockRestore();
  expect(await silent.untilClosed()).toMatchObject({ reason: 'silent' });
  await alive.ping();
});

it('does not call silent who waits for the database', async () => {
  const client = await connected('', 5);
  await client.subscribe('milestones');
  let [isHeld, isAsked] = [true, false];
  const restore = await inObject((broker) => {
    const database = databaseOf(broker);
    const read = database.batch.bind(database);
    const batch = vi.spyOn(database, 'batch').mockImplementation(async (statements) => {
      isAsked = true;
      while (isHeld) await new Promise((resolve) => setTimeout(resolve, 5));
      return read(statements);
    });
    return () => batch.mockRestore();
  });
  const told = object.applied();
  await client.until(() => isAsked);
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 20_000);
  const pinged = client.ping();
  await object.readCounts();
  const again = object.applied();
  await object.readCounts();
  clock.mockRestore();
  isHeld = false;
  await Promise.all([pinged, told, again]);
  restore();
  expect(client.closed).toBeUndefined();
});

it('closes 10 s after the connection where no CONNECT came, whatever else comes', async () => {
  const real = globalThis.setTimeout;
  const delays: (number | undefined)[] = [];
  const spied = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    act: () => void,
    ms?: number,
  ) => {
    delays.push(ms);
    return real(act, ms === undefined || ms < 1000 ? ms : ms / 20);
  }) as typeof setTimeout);
  const [silent, empty, dribbling] = [await open(), await open(), await open()];
  const late = await connected();
  spied.mockRestore();
  for (let i = 0; i < 20 && silent.closed === undefined; i++) {
    // they may be closed a moment before
    for (const [client, bytes] of [
      [empty, []],
      [dribbling, [i === 0 ? 0x10 : 0x80]],
    ] as const)
      if (client.closed === undefined) client.sendBytes(Uint8Array.from(bytes));
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  for (const client of [silent, empty]) {
    expect(await client.untilClosed()).toEqual({ code: 1008, reason: 'silent' });
  }
  await dribbling.untilClosed();
  await late.ping();
  expect(delays.filter((ms) => ms! > 1000)).toHaveLength(4);
});

it.runIf(process.env.SLOW)(
  'asks the largest receiver to connect again, and never ends the object',
  async () => {
    const listener = await connected();
    await listener.subscribe('milestone-info/latest');
    const deaf = await open('192.0.2.2', false);
    await deaf.connect();
    await deaf.subscribe('blocks');
    for (let sent = 0; deaf.closed === undefined && sent < 70; sent += 5) {
      await tellBytes(5_000_000);
      // it writes, but that does not show that it reads
      await Promise.race([deaf.ping(), deaf.untilClosed()]);
    }
    expect(await deaf.untilClosed()).toEqual({ code: 1012, reason: 'used-up' });
    const again = await open('192.0.2.2');
    await again.connect();
    await again.subscribe('blocks');
    await tellBytes(1_000_000);
    expect(await again.untilClosed()).toEqual({ code: 1012, reason: 'used-up' });
    const other = await open('192.0.2.3');
    await other.connect();
    await other.subscribe('blocks');
    await tellBytes(1_000_000);
    await Promise.all([other.ping(), listener.ping()]);
    expect(await object.readCounts()).toMatchObject({ clients: 2, closes: { 'used-up': 2 } });
  },
);

it('takes turns between the packets of a message', async () => {
  const [many, one] = [await connected(), await connected()];
  const pings = new Uint8Array(20_000).map((_, i) => (i % 2 === 0 ? 0xc0 : 0));
  many.sendBytes(pings);
  await one.ping();
  expect(many.packets.length).toBeLessThan(5000);
  await many.until(() => many.packets.length === 1 + pings.length / 2);
  many.sendBytes(new Uint8Array((1 << 17) + 1));
  expect(await many.untilClosed()).toMatchObject({ code: 1008, reason: 'over-limit' });
});

it('ends the events of messages that wait, all but one: workerd holds far more for each', async () => {
  await connected();
  const ping = () => Uint8Array.of(0xc0, 0).buffer;
  const pending = await runInDurableObject(object, async (broker: EventBroker, state) => {
    const [socket] = state.getWebSockets();
    let pending = 100;
    const events = Array.from({ length: pending }, async () => {
      await broker.webSocketMessage(socket!, ping());
      pending -= 1;
    });
    await events[1];
    const most = pending;
    await Promise.all(events);
    return most;
  });
  // that one may have ended by then
  expect(pending).toBeLessThanOrEqual(1);
});

it('reads D1 twice for a subscription to 400 unknown blocks, and not again', async () => {
  const client = await connected();
  const calls = await inObject((broker) => {
    const batch = vi.spyOn(databaseOf(broker), 'batch');
    return () => batch.mock.calls.length;
  });
  const topics = Array.from(
    { length: 400 },
    (_, i) => `block-metadata/0x${(i + 1).toString(16).padStart(64, '0')}`,
  );
  await client.subscribe(...topics);
  await client.ping();
  expect(calls()).toBe(2);
  await client.subscribe(...topics);
  await client.ping();
  expect(calls()).toBe(3);
  vi.restoreAllMocks();
});

it('tells nothing again to those who subscribe again', async () => {
  const client = await connected();
  const created = changesOf(network, first + 2).created[0]!;
  const topics = ['milestone-info/latest', `outputs/0x${created.outputId.toHex()}`];
  await client.subscribe(...topics);
  await client.subscribe(...topics);
  await client.ping();
  expect(client.take().map(({ topic }) => topic)).toEqual(topics);
  await client.unsubscribe(...topics);
  await client.subscribe(...topics);
  await client.ping();
  expect(client.take().map(({ topic }) => topic)).toEqual(topics);
});

it('closes nobody else where a row is damaged that a subscriber is to be told', async () => {
  const other = await connected();
  await other.subscribe('milestone-info/confirmed');
  const { outputId } = changesOf(network, first + 2).created[0]!;
  hasMoved = true;
  await env.LEDGER.prepare('UPDATE output SET created = created + 1 WHERE id = ?1')
    .bind(outputId.toHex())
    .run();
  const client = await connected();
  client.send({
    type: PacketType.Subscribe,
    packetId: 1,
    topics: [`outputs/0x${outputId.toHex()}`],
  });
  expect(await client.untilClosed()).toEqual({ code: 1011, reason: 'failed' });
  await other.ping();
});

it('begins with the ledger that is there, where an import has replaced the last one', async () => {
  const older = await connected();
  await older.subscribe('milestone-info/latest');
  expect(older.take()[0]!.text).toBe(infoOf(first + 2));
  hasMoved = true;
  await startLedger(env.LEDGER, network, first + 6);
  const newer = await connected();
  await newer.subscribe('milestone-info/latest');
  expect(newer.take()[0]!.text).toBe(infoOf(first + 6));
  expect(await older.untilClosed()).toEqual({ code: 1012, reason: 'ledger-moved' });
  await newer.ping();
});

it('answers a failing database by closing, never by an exception', async () => {
  const client = await connected();
  const restore = await inObject((broker) => {
    const batch = vi.spyOn(databaseOf(broker), 'batch').mockRejectedValue(new Error('away'));
    return () => batch.mockRestore();
  });
  client.send({ type: PacketType.Subscribe, packetId: 1, topics: ['milestone-info/confirmed'] });
  expect(await client.untilClosed()).toMatchObject({ code: 1011, reason: 'failed' });
  restore();
});

it('tells nothing twice where the database fails while a milestone is told', async () => {
  const { consumed, created } = changesOf(network, first + 3);
  const topicsOf = (outputs: readonly NetworkOutput[]) =>
    outputs.map(({ outputId }) => `outputs/0x${outputId.toHex()}`).sort();
  // of one that is in both there are two messages
  const topics = topicsOf(consumed).filter((each) => !topicsOf(created).includes(each));
  expect(topics).not.toEqual([]);
  const listening = async () => {
    const client = await connected();
    await client.subscribe('milestones', ...topics);
    await client.ping();
    client.take();
    return client;
  };
  const told = (client: MqttClient) =>
    client
      .take()
      .map(({ topic }) => topic)
      .sort();
  const interrupted = await listening();
  await moveTo(first + 3);
  const restore = await inObject((broker) => {
    const database = databaseOf(broker);
    const read = database.batch.bind(database);
    const { messages } = broker.readCounts();
    const batch = vi.spyOn(database, 'batch').mockImplementation(async (statements) => {
      if (broker.readCounts().messages > messages) throw new Error('away');
      return read(statements);
    });
    return () => batch.mockRestore();
  });
  await object.applied();
  expect(await interrupted.untilClosed()).toEqual({ code: 1011, reason: 'failed' });
  restore();
  expect(told(interrupted)).toEqual(topics);
  const next = await listening();
  await object.applied();
  await next.ping();
  expect(told(next)).toEqual(['milestones', ...topics]);
});

function ownersOf(output: Output): string[] {
  const owner = [UnlockConditionType.Address].flatMap((type) =>
    output.unlockConditions.some((each) => each.type === type) ? [addressIn(output, type)] : [],
  );
  return owner.map((address) => toBech32(prefix, address));
}

function topicsOf({ bytes }: NetworkOutput, behind: string): string[] {
  return ownersOf(decodeOutput(bytes)).map(
    (address) => `outputs/unlock/address/${address}${behind}`,
  );
}

function nftTopic({ bytes, outputId }: NetworkOutput): string[] {
  const output = decodeOutput(bytes);
  if (output.type !== OutputType.Nft) return [];
  return [`outputs/nft/0x${nftIdOf(output, outputId).toHex()}`];
}

function outputIdIn(text: string): string {
  const { transactionId, outputIndex } = JSON.parse(text).metadata;
  const index = Uint8Array.of(outputIndex & 0xff, outputIndex >> 8).toHex();
  return transactionId + index;
}

it('gives no other place to a site whose closed sockets stay, also after an eviction', async () => {
  const connect = async (address: string) => {
    const headers = { upgrade: 'websocket', [CLIENT_HEADER]: address };
    const { status, webSocket } = await object.fetch('http://x/', { headers });
    return webSocket ? new MqttClient(webSocket, false) : status;
  };
  const deaf: MqttClient[] = [];
  for (let i = 0; i < 100; i++) {
    const client = (await connect(`2001:db8:0:${i.toString(16)}::/64`)) as MqttClient;
    // malformed
    client.sendBytes(Uint8Array.of(0xf0, 0));
    deaf.push(client);
  }
  await deaf.at(-1)!.untilClosed();
  expect(await connect('2001:db8:0:ffff::/64')).toBe(503);
  await evictDurableObject(object);
  expect(await connect('2001:db8:0:ffff::/64')).toBe(503);
  expect(await connect('2001:db8:1:0::/64')).toBeInstanceOf(MqttClient);
});

it('gives a site as many places as are left for others: few sites do not take all', async () => {
  const connect = async (address: string) => {
    const headers = { upgrade: 'websocket', [CLIENT_HEADER]: address };
    return (await object.fetch('http://x/', { headers })).status;
  };
  // what a site has beside all others, of 20,000
  const sockets: Record<string, number> = { '192.0.2.1': 9900, '192.0.2.2': 5050, small: 2000 };
  await inObject((broker) => {
    const { ctx } = broker as unknown as { ctx: DurableObjectState };
    const has = (site: string) => sockets[site] ?? 0;
    const all = () => Object.values(sockets).reduce((sum, each) => sum + each, 0);
    ctx.getWebSockets = (site) =>
      new Array(site === undefined ? all() : has(site)).fill({ readyState: WebSocket.OPEN });
  });
  expect([await connect('192.0.2.1'), await connect('192.0.2.2')]).toEqual([503, 503]);
  expect([await connect('192.0.2.3'), await connect('198.51.100.1')]).toEqual([101, 101]);
  sockets['192.0.2.2'] = 3000;
  expect(await connect('192.0.2.2')).toBe(101);
  sockets['192.0.2.4'] = 5099;
  expect(await connect('198.51.100.1')).toBe(101);
  sockets['192.0.2.4'] = 5100;
  expect(await connect('198.51.100.1')).toBe(503);
});
