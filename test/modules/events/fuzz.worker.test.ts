/**
 * Whatever clients send, the broker serves or closes them, and no exception leaves it.
 * `npm run test:slow -- events` does so with 100,000 streams.
 */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import type { EventBroker } from '../../../src/modules/events/event-broker.ts';
import { createPacketReader, encodePacket, PacketType } from '../../../src/mqtt/packets.ts';
import { concatBytes, fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { Random } from '../../support/network/random.ts';
import { randomNetwork } from '../../support/network/random-network.ts';

declare global {
  namespace Cloudflare {
    interface Env {
      /** How many streams. */
      FUZZ_STREAMS?: string;
    }
  }
}

const STREAMS = Number(env.FUZZ_STREAMS || 500);
const topics = ['milestone-info/confirmed', `outputs/0x${'ab'.repeat(34)}`, '#', ''];

/** What a client may say, one packet after the other; the first of them must come first. */
const SESSION = [
  // with a will, a user and a password
  fromHex('0x101a00044d51545404ee000a00026162000174' + '00016d' + '000175' + '000170'),
  encodePacket({ type: PacketType.Subscribe, packetId: 1, topics }),
  encodePacket({ type: PacketType.Publish, topic: 'a', payload: new Uint8Array(130) }),
  fromHex('0x3206000161000501'),
  fromHex('0x3406000161000601'),
  encodePacket({ type: PacketType.PublishRelease, packetId: 6 }),
  encodePacket({ type: PacketType.Unsubscribe, packetId: 2, topics: topics.slice(1) }),
  encodePacket({ type: PacketType.PingRequest }),
];

const object = () =>
  env.EVENTS.get(env.EVENTS.idFromName('fuzz')) as unknown as DurableObjectStub<EventBroker>;

beforeAll(async () => {
  const network = randomNetwork({ seed: 'fuzz', milestones: 2, events: 3 });
  const rig = await startLedger(env.LEDGER, network, network.genesis.index);
  await followTo(rig, network.genesis.index + 2);
});

interface Connection {
  /** Says it, as one message. */
  say(bytes: Uint8Array): Promise<void>;
  isOpen(): boolean;
  /** What was answered; the connection is closed. */
  end(): Promise<Uint8Array>;
}

/** A connection within the object, so that what is thrown there is thrown here. */
async function open(broker: EventBroker, state: DurableObjectState): Promise<Connection> {
  const before = new Set(state.getWebSockets());
  const { webSocket } = await broker.fetch(new Request('http://x/'));
  const server = state.getWebSockets().find((each) => !before.has(each))!;
  const answers: Uint8Array[] = [];
  webSocket!.addEventListener('message', ({ data }) => {
    answers.push(new Uint8Array(data));
  });
  const closed = new Promise((resolve) => webSocket!.addEventListener('close', resolve));
  webSocket!.binaryType = 'arraybuffer';
  webSocket!.accept();
  return {
    say: (bytes) => broker.webSocketMessage(server, bytes.slice().buffer),
    isOpen: () => server.readyState === WebSocket.OPEN,
    async end() {
      if (server.readyState === WebSocket.OPEN) server.close(1000);
      broker.webSocketClose(server, 1000);
      await closed;
      webSocket!.close(1000);
      return concatBytes(...answers);
    },
  };
}

const read = (bytes: Uint8Array) => [...createPacketReader(100_000).read(bytes)];

it('5,000 empty messages at once are nothing', async () => {
  await runInDurableObject(object(), async (broker, state) => {
    const client = await open(broker, state);
    await Promise.all(Array.from({ length: 5000 }, () => client.say(new Uint8Array(0))));
    expect(client.isOpen()).toBe(true);
    await client.end();
  });
});

it('a session gets the same answers, wherever it is cut', async () => {
  const session = concatBytes(...SESSION);
  await runInDurableObject(object(), async (broker, state) => {
    const whole = await open(broker, state);
    await whole.say(session);
    const due = read(await whole.end());
    expect(due.map(({ type }) => type)).toEqual([
      PacketType.ConnectAck,
      PacketType.SubscribeAck,
      PacketType.Publish,
      PacketType.PublishAck,
      PacketType.PublishReceived,
      PacketType.PublishComplete,
      PacketType.UnsubscribeAck,
      PacketType.PingResponse,
    ]);
    for (let at = 1; at < session.length; at++) {
      const cut = await open(broker, state);
      await cut.say(session.subarray(0, at));
      await cut.say(session.subarray(at));
      expect(read(await cut.end())).toEqual(due);
    }
    const single = await open(broker, state);
    for (const byte of session) await single.say(Uint8Array.of(byte));
    expect(read(await single.end())).toEqual(due);
    expect(await broker.readCounts()).toMatchObject({ clients: 0, topics: 0 });
  });
});

it(`${STREAMS} random streams are served or closed`, async () => {
  const random = new Random('streams');
  const bytesOf = (length: number) => Uint8Array.from({ length }, () => random.below(256));
  const mutate = (packet: Uint8Array) => {
    const changed = packet.slice();
    for (let i = 0; i <= random.below(3); i++)
      changed[random.below(changed.length)] = random.below(256);
    return changed;
  };
  const piece = () => {
    const packet = SESSION[random.below(SESSION.length)]!;
    switch (random.below(5)) {
      case 0:
        return bytesOf(1 + random.below(40));
      case 1:
        return mutate(packet);
      case 2:
        return packet.subarray(0, 1 + random.below(packet.length));
      default:
        return packet;
    }
  };
  let closed = 0;
  const ends: Promise<unknown>[] = [];
  await runInDurableObject(object(), async (broker, state) => {
    for (let i = 0; i < STREAMS; i++) {
      const connection = await open(broker, state);
      if (random.below(3) > 0) await connection.say(SESSION[0]!);
      for (let n = 0; n < 1 + random.below(8); n++) await connection.say(piece());
      if (!connection.isOpen()) closed++;
      ends.push(connection.end());
      if (ends.length === 50) await Promise.all(ends.splice(0));
    }
    await Promise.all(ends);
    expect(await broker.readCounts()).toMatchObject({ clients: 0, topics: 0 });
    // not all of them, and not none
    expect(closed).toBeGreaterThan(STREAMS / 10);
    expect(closed).toBeLessThan((STREAMS * 9) / 10);
  });
}, 3_600_000);
