/** MQTT packets: every one comes back from its bytes, however the stream is cut. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  createPacketReader,
  encodePacket,
  type Packet,
  PacketType,
} from '../../src/mqtt/packets.ts';
import { concatBytes } from '../../src/stardust/encoding/bytes.ts';
import { StardustError } from '../../src/stardust/error.ts';

const MAX = 40_000;
const word = fc.integer({ min: 0, max: 0xffff });
const text = fc.string({ unit: 'binary', maxLength: 40 }).map((each) => each.toWellFormed());

const packet: fc.Arbitrary<Packet> = fc.oneof(
  fc.record({
    type: fc.constant(PacketType.Connect),
    level: fc.constant(4),
    cleanSession: fc.constant(true),
    clientId: text,
    keepAlive: word,
  }),
  fc.record({
    type: fc.constant(PacketType.ConnectAck),
    sessionPresent: fc.boolean(),
    returnCode: fc.nat(255),
  }),
  fc.record({
    type: fc.constant(PacketType.Publish),
    topic: text,
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc
        .constantFrom(100, 127, 128, 16_383, 16_384, 32_768)
        .map((length) => new Uint8Array(length)),
    ),
  }),
  fc.record({
    type: fc.constant(PacketType.Subscribe),
    packetId: word,
    topics: fc.array(text, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    type: fc.constant(PacketType.SubscribeAck),
    packetId: word,
    returnCodes: fc.array(fc.nat(255), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    type: fc.constant(PacketType.Unsubscribe),
    packetId: word,
    topics: fc.array(text, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    type: fc.constantFrom(
      PacketType.PublishAck,
      PacketType.PublishReceived,
      PacketType.PublishRelease,
      PacketType.PublishComplete,
      PacketType.UnsubscribeAck,
    ),
    packetId: word,
  }),
  fc
    .constantFrom(PacketType.PingRequest, PacketType.PingResponse, PacketType.Disconnect)
    .map((type) => ({ type })),
);

/** The bytes in chunks of these lengths, again and again. */
function cut(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const length = lengths[i % lengths.length]!;
    chunks.push(bytes.slice(at, at + length));
    at += length;
  }
  return chunks;
}

const connect = (clientId: string, keepAlive: number): Packet => ({
  type: PacketType.Connect,
  level: 4,
  cleanSession: true,
  clientId,
  keepAlive,
});

const read = (bytes: Uint8Array, maxLength = MAX) => [...createPacketReader(maxLength).read(bytes)];

describe('packets', () => {
  it('come back from a stream that is cut anywhere', () => {
    const lengths = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 70_000 })),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 6 }), lengths, (packets, pieces) => {
        const reader = createPacketReader(MAX);
        const chunks = cut(concatBytes(...packets.map(encodePacket)), pieces);
        expect(chunks.flatMap((chunk) => [...reader.read(chunk)])).toEqual(packets);
      }),
      { numRuns: 300 },
    );
  });

  it('are given as soon as their last byte is there', () => {
    fc.assert(
      fc.property(packet, (each) => {
        const reader = createPacketReader(MAX);
        const bytes = encodePacket(each);
        for (const byte of bytes.subarray(0, -1))
          expect([...reader.read(Uint8Array.of(byte))]).toEqual([]);
        expect([...reader.read(bytes.slice(-1))]).toEqual([each]);
      }),
      { numRuns: 60 },
    );
  });

  it('are the bytes of the specification', () => {
    const bytes = (each: Packet) => encodePacket(each).toHex();
    expect(bytes(connect('ab', 10))).toBe('100e00044d5154540402000a00026162');
    expect(bytes({ type: PacketType.Subscribe, packetId: 1, topics: ['a/b', 'c/d'] })).toBe(
      '820e0001' + '0003612f6200' + '0003632f6400',
    );
    expect(bytes({ type: PacketType.PingRequest })).toBe('c000');
    expect(bytes({ type: PacketType.Disconnect })).toBe('e000');
    expect(read(Uint8Array.fromHex('20020000' + '9003000100' + 'd000'))).toEqual([
      { type: PacketType.ConnectAck, sessionPresent: false, returnCode: 0 },
      { type: PacketType.SubscribeAck, packetId: 1, returnCodes: [0] },
      { type: PacketType.PingResponse },
    ]);
  });

  it('have at most 400 topics, and no more are decoded', () => {
    for (const type of [PacketType.Subscribe, PacketType.Unsubscribe] as const) {
      const topics = (count: number) => new Array<string>(count).fill('');
      const packet = { type, packetId: 1, topics: topics(400) };
      expect(read(encodePacket(packet))).toEqual([packet]);
      const decoded = vi.spyOn(TextDecoder.prototype, 'decode');
      const many = encodePacket({ ...packet, topics: topics(10_000) });
      expect(() => read(many)).toThrow('more than 400 topics');
      expect(decoded).toHaveBeenCalledTimes(400);
      decoded.mockRestore();
    }
  });

  it('may have been kept by the broker', () => {
    const payload = Uint8Array.of(7);
    expect(read(Uint8Array.fromHex('3104' + '000161' + '07'))).toEqual([
      { type: PacketType.Publish, topic: 'a', payload },
    ]);
  });
});

describe('what clients send', () => {
  it('may have a will, a user and a password, which are dropped', () => {
    const fields = ['000174', '00016d', '000175', '000170'].join('');
    const bytes = Uint8Array.fromHex(`101a00044d51545404ee000a00026162${fields}`);
    expect(read(bytes)).toEqual([connect('ab', 10)]);
  });

  it('may be another version of the protocol, of which only the level is read', () => {
    for (const [hex, level] of [
      ['100d00044d5154540502000a000000', 5],
      ['100e00064d51497364700302000a0000', 3],
    ] as const)
      expect(read(Uint8Array.fromHex(hex))).toMatchObject([{ type: PacketType.Connect, level }]);
  });

  it('may have any QoS', () => {
    expect(read(Uint8Array.fromHex('3a06' + '000161' + '0102' + '07'))).toEqual([
      {
        type: PacketType.Publish,
        topic: 'a',
        payload: Uint8Array.of(7),
        acknowledge: { qos: 1, packetId: 258 },
      },
    ]);
    expect(read(Uint8Array.fromHex('82060001000161' + '02'))).toEqual([
      { type: PacketType.Subscribe, packetId: 1, topics: ['a'] },
    ]);
  });
});

describe('what is no packet', () => {
  it('is refused or waited for, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 20 }), (chunks) => {
        const reader = createPacketReader(64);
        try {
          for (const chunk of chunks) [...reader.read(chunk)];
        } catch (error) {
          expect(error).toBeInstanceOf(StardustError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('is refused with its header, before it has come, where it is too long', () => {
    const longest = encodePacket({
      type: PacketType.Publish,
      topic: 'a',
      payload: new Uint8Array(57),
    });
    expect(read(longest, longest.length)).toHaveLength(1);
    expect(() => read(longest.subarray(0, 2), longest.length - 1)).toThrow('a packet of 62 bytes');
    expect(() => read(Uint8Array.of(0x30, 0xff, 0xff, 0xff, 0x7f))).toThrow('268435460 bytes');
  });

  it.each([
    ['a length of five bytes', '30ffffffff', 'MQTT-2.2.3'],
    ['a type that there is not', 'f000', 'MQTT-2.2.2-2'],
    ['an acknowledgement without an ID', '4000', 'A.0'],
    ['a message with QoS 3', '3606000161000107', 'MQTT-3.3.1-4'],
    ['an answer to a ping with flags', 'd100', 'MQTT-2.2.2-2'],
    ['an answer to a ping with a body', 'd00100', 'MQTT-2.2.3'],
    ['an acknowledgement with a body too long', '2003000000', 'MQTT-2.2.3'],
    ['an acknowledgement with other flags', '20020200', 'MQTT-3.2.2'],
    ['a topic longer than the message', '3003000561', 'A.0'],
    ['a topic that is no text', '30030001ff', 'MQTT-1.5.3-1'],
    ['a subscription without a topic', '82020001', 'MQTT-3.8.3-3'],
    ['a subscription with QoS 3', '82060001000161' + '03', 'MQTT-3.8.3-4'],
    ['an unsubscription without a topic', 'a2020001', 'MQTT-3.10.3-2'],
    ['another protocol', '100c00044d5154550402000a0000', 'MQTT-3.1.2-1'],
    ['a reserved flag', '100c00044d5154540403000a0000', 'MQTT-3.1.2-3'],
    ['a QoS of no will', '100c00044d515454040a000a0000', 'MQTT-3.1.2-11'],
    ['a password without a user', '100e00044d5154540442000a00000000', 'MQTT-3.1.2-22'],
  ])('%s', (_, hex, rule) => {
    const refusal = () => read(Uint8Array.fromHex(hex));
    expect(refusal).toThrow(StardustError);
    expect(refusal).toThrow(`${rule}: `);
  });
});
