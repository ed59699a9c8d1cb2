/** When a feed is live, when it is given up, and when it is tried again: by the clock alone. */
import { describe, expect, it } from 'vitest';
import { createFeedConnection } from '../../../src/modules/feed/feed-connection.ts';
import {
  createPacketReader,
  encodePacket,
  type Packet,
  PacketType,
} from '../../../src/mqtt/packets.ts';

const accepted = encodePacket({
  type: PacketType.ConnectAck,
  sessionPresent: false,
  returnCode: 0,
});
const granted = encodePacket({ type: PacketType.SubscribeAck, packetId: 1, returnCodes: [0, 0] });
const message = encodePacket({
  type: PacketType.Publish,
  topic: 'a',
  payload: Uint8Array.of(1, 2, 3),
});
const long = encodePacket({
  type: PacketType.Publish,
  topic: 'a',
  payload: new Uint8Array(30_000),
});
const pong = encodePacket({ type: PacketType.PingResponse });
const said = (send: readonly Uint8Array[]): Packet[] => send.flatMap((bytes) => read(bytes));
const read = (bytes: Uint8Array) => [...createPacketReader(1000).read(bytes)];
const typesOf = (send: readonly Uint8Array[]) => said(send).map(({ type }) => type);

/** A connection that is subscribed at this time. */
function subscribedAt(now: number) {
  const connection = createFeedConnection('edge', ['a', 'b']);
  expect(connection.tick(now).open).toBe(true);
  connection.opened(now);
  connection.received(accepted, now);
  connection.received(granted, now);
  return connection;
}

describe('a session', () => {
  it('connects, subscribes, and gives the messages', () => {
    const connection = createFeedConnection('edge', ['a', 'b']);
    expect(connection.tick(0)).toEqual({ send: [], messages: [], open: true });
    expect(connection.state(0)).toBe('down');
    expect(said(connection.opened(100).send)).toEqual([
      {
        type: PacketType.Connect,
        level: 4,
        cleanSession: true,
        clientId: 'edge',
        keepAlive: 10,
      },
    ]);
    expect(said(connection.received(accepted, 200).send)).toEqual([
      { type: PacketType.Subscribe, packetId: 1, topics: ['a', 'b'] },
    ]);
    expect(connection.state(200)).toBe('down');
    connection.received(granted, 300);
    expect(connection.state(300)).toBe('silent');
    const { messages } = connection.received(message, 400);
    expect(messages).toEqual([{ topic: 'a', payload: Uint8Array.of(1, 2, 3) }]);
    expect(connection.state(400)).toBe('live');
  });

  it.each<[string, Uint8Array]>([
    [
      'a refusal',
      encodePacket({ type: PacketType.ConnectAck, sessionPresent: false, returnCode: 5 }),
    ],
    ['a message first', message],
    ['a subscription that was not asked for', granted],
    ['a packet of a client', encodePacket({ type: PacketType.PingRequest })],
    ['no MQTT', new TextEncoder().encode('HTTP/1.1 400 Bad Request')],
    [
      'a message of many packets',
      Uint8Array.from({ length: (1 << 18) + 2 }, (_, i) => (i % 2 === 0 ? 0xd0 : 0)),
    ],
    ['a packet that is too long', Uint8Array.of(0x30, 0xff, 0xff, 0x7f)],
  ])('ends with %s', (_, bytes) => {
    const connection = createFeedConnection('edge', ['a', 'b']);
    connection.tick(0);
    connection.opened(0);
    expect(connection.received(bytes, 0).close).toMatch(/^MQTT: /);
    expect(connection.state(0)).toBe('down');
  });

  it('ends where a topic is refused', () => {
    const connection = createFeedConnection('edge', ['a', 'b']);
    connection.tick(0);
    connection.opened(0);
    connection.received(accepted, 0);
    const refused = encodePacket({ ...read(granted)[0]!, returnCodes: [0, 128] } as Packet);
    expect(connection.received(refused, 0).close).toBe('MQTT: subscribed with 0, 128');
  });

  it('ends with a message of another topic', () => {
    const other = encodePacket({
      type: PacketType.Publish,
      topic: 'c',
      payload: Uint8Array.of(1),
    });
    expect(subscribedAt(0).received(other, 1).close).toContain('not requested');
  });

  it.each([
    ['answers to pings', pong, 5000],
    ['messages', message, 5000],
  ])('ends with more %s than a network has, however they are cut', (_, packet, count) => {
    const connection = subscribedAt(0);
    const many = Uint8Array.from(
      { length: count * packet.length },
      (_, i) => packet[i % packet.length]!,
    );
    expect(connection.received(many, 1).close).toBeUndefined();
    // 2,000 a second go on for ever
    for (let now = 2501; now < 60_000; now += 2500)
      expect(connection.received(many, now).close).toBeUndefined();
    const closes = [60_001, 60_002, 60_003].map((now) => connection.received(many, now).close);
    expect(closes).toContain('MQTT: too many packets');
  });

  it.each([
    ['nothing', () => new Uint8Array()],
    ['a byte of a packet', (i: number) => long.subarray(i, i + 1)],
  ])('ends with too many messages that bring %s', (_, pieceAt) => {
    const connection = subscribedAt(0);
    const closes = Array.from(
      { length: 80_100 },
      (_, i) => connection.received(pieceAt(i), 0).close,
    );
    expect(closes.indexOf('MQTT: too many packets')).toBeGreaterThan(72_000);
  });

  it('ends with more bytes than a network has', () => {
    const connection = subscribedAt(0);
    const takesEach = (everyMs: number, since: number) => {
      for (let now = since; now < since + 60_000; now += everyMs)
        if (connection.received(long, now).close !== undefined) return false;
      return true;
    };
    expect(takesEach(20, 1)).toBe(true);
    expect(takesEach(5, 60_001)).toBe(false);
  });

  it('ends with bytes before a word was said', () => {
    const connection = createFeedConnection('edge', ['a']);
    connection.tick(0);
    expect(connection.received(accepted, 0).close).toBeDefined();
    expect(connection.tick(1000).open).toBe(true);
  });

  it('pings every three seconds, also while messages come', () => {
    const connection = subscribedAt(0);
    const pinged: number[] = [];
    for (let now = 500; now <= 12_000; now += 500) {
      connection.received(message, now);
      if (typesOf(connection.tick(now).send).includes(PacketType.PingRequest)) pinged.push(now);
    }
    expect(pinged).toEqual([3000, 6000, 9000, 12_000]);
  });
});

describe('a feed', () => {
  it('is not live ten seconds after its last message, though pings are answered', () => {
    const connection = subscribedAt(0);
    connection.received(message, 1000);
    for (let now = 1500; now < 60_000; now += 500) {
      expect(connection.tick(now).close).toBeUndefined();
      connection.received(pong, now);
      expect(connection.state(now)).toBe(now < 10_000 ? 'live' : 'silent');
    }
    connection.received(message, 60_000);
    expect(connection.state(60_000)).toBe('live');
  });

  it('ends within ten seconds where nothing comes at all', () => {
    const connection = subscribedAt(0);
    connection.received(message, 1000);
    const ended = [...Array(40).keys()].find((i) => connection.tick(i * 500).close !== undefined);
    expect(ended! * 500).toBe(9000);
    expect(connection.state(9000)).toBe('down');
  });

  it('is given up after a minute without a message', () => {
    const connection = subscribedAt(0);
    for (let now = 500; now < 60_000; now += 500) {
      connection.received(pong, now);
      expect(connection.tick(now).close).toBeUndefined();
    }
    expect(connection.tick(60_000).close).toBe('no message for 60000 milliseconds');
  });

  it('counts no message of an earlier session as its own', () => {
    const connection = subscribedAt(0);
    connection.received(message, 1000);
    connection.lost(1500);
    connection.tick(3000);
    connection.opened(3000);
    connection.received(accepted, 3000);
    connection.received(granted, 3000);
    expect(connection.state(3000)).toBe('silent');
  });
});

describe('after a failure', () => {
  /** When it was tried, each time to no avail. */
  function tries(until: number): number[] {
    const connection = createFeedConnection('edge', ['a']);
    const opened: number[] = [];
    for (let now = 0; now <= until; now += 500) {
      if (!connection.tick(now).open) continue;
      opened.push(now / 1000);
      connection.lost(now);
    }
    return opened;
  }

  it('pauses grow to a minute', () => {
    expect(tries(250_000)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
  });

  it('pauses are short again after a session of a minute, not after a shorter one', () => {
    const nextTry = (lasting: number) => {
      const connection = createFeedConnection('edge', ['a', 'b']);
      for (const now of [0, 1000, 3000]) {
        expect(connection.tick(now).open).toBe(true);
        connection.lost(now);
      }
      expect(connection.tick(7000).open).toBe(true);
      connection.opened(7000);
      connection.received(accepted, 7000);
      connection.received(granted, 7000);
      const end = 7000 + lasting;
      connection.lost(end);
      for (let now = end; ; now += 500) if (connection.tick(now).open) return now - end;
    };
    expect(nextTry(59_000)).toBe(8000);
    expect(nextTry(60_000)).toBe(1000);
  });

  it('a connection that is never made is given up', () => {
    const connection = createFeedConnection('edge', ['a']);
    connection.tick(0);
    expect(connection.tick(29_500)).toEqual({ send: [], messages: [] });
    expect(connection.tick(30_000).close).toBeDefined();
    expect(connection.tick(31_000).open).toBe(true);
  });
});

const HOUR_MS = 3_600_000;

describe.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('where the clock was set %s by an hour', (_, step) => {
  const START = 1_700_000_000_000;
  const subscribe = () => {
    const connection = subscribedAt(START);
    connection.received(message, START);
    return connection;
  };

  it('a feed that brings nothing does not stay live, and another one is tried', () => {
    const connection = subscribe();
    expect(connection.state(START)).toBe('live');
    expect(connection.state(START + step)).toBe('silent');
    let opened = 0;
    for (let after = 500; after <= 3000; after += 500)
      if (connection.tick(START + step + after).open) opened++;
    expect(opened).toBe(1);
  });

  it('a feed that brings something is live, and pings', () => {
    const connection = subscribe();
    connection.received(message, START + step);
    expect(connection.state(START + step)).toBe('live');
    expect(connection.tick(START + step).send).toHaveLength(1);
  });

  it('a feed that failed is tried again', () => {
    const connection = createFeedConnection('edge', ['a']);
    connection.tick(START);
    connection.lost(START);
    expect(connection.tick(START + step).open).toBe(true);
  });
});
