/** What the page says to the broker and hears of it, against the codec that the broker has. */
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  blockIn,
  CONNECT,
  listenForMilestones,
  SUBSCRIBE,
  SUBSCRIBE_BLOCKS,
  UNSUBSCRIBE_BLOCKS,
} from '../../explorer/node/events.ts';
import { encodePacket, PacketType, PROTOCOL_LEVEL } from '../../src/mqtt/packets.ts';
import { CONFIRMED_MILESTONE } from '../../src/mqtt/topics.ts';

const textOf = (bytes: Uint8Array) => String.fromCharCode(...bytes);

const subscribing = (topic: string) =>
  textOf(encodePacket({ type: PacketType.Subscribe, packetId: 1, topics: [topic] }));

it('connects, and subscribes to the confirmed milestone and to blocks', () => {
  const connect = { cleanSession: true, clientId: '', keepAlive: 0 };
  expect(CONNECT).toBe(
    textOf(encodePacket({ type: PacketType.Connect, level: PROTOCOL_LEVEL, ...connect })),
  );
  expect(SUBSCRIBE).toBe(subscribing(CONFIRMED_MILESTONE));
  expect(SUBSCRIBE_BLOCKS).toBe(subscribing('blocks'));
  expect(UNSUBSCRIBE_BLOCKS).toBe(
    textOf(encodePacket({ type: PacketType.Unsubscribe, packetId: 1, topics: ['blocks'] })),
  );
});

const publishing = (topic: string, length: number) =>
  encodePacket({ type: PacketType.Publish, topic, payload: new Uint8Array(length).fill(7) });

it.each([0, 1, 119, 120, 16_000, 16_376, 32_768])('finds a block of %i bytes', (length) => {
  expect(blockIn(publishing('blocks', length))).toEqual(new Uint8Array(length).fill(7));
});

it.each<[string, Uint8Array]>([
  ['nothing', new Uint8Array()],
  ['CONNACK', Uint8Array.of(0x20, 2, 0, 0)],
  ['a milestone', publishing(CONFIRMED_MILESTONE, 150)],
  ['a transaction’s block, which comes as a block too', publishing('blocks/transaction', 9)],
  ['PUBLISH without a topic', Uint8Array.of(0x30, 0)],
  ['PUBLISH whose length has no end', new Uint8Array(40).fill(0xff).with(0, 0x30)],
  ['a topic that is cut off', publishing('blocks', 0).subarray(0, 8)],
  ['1 MB of nothing', new Uint8Array(1 << 20)],
])('finds none in %s', (_, packet) => {
  expect(blockIn(packet)).toBe(undefined);
});

it('takes no text for a packet: a number would be its length', () => {
  let socket = new EventTarget();
  class Socket extends EventTarget {
    constructor() {
      super();
      socket = this;
    }
  }
  vi.stubGlobal('WebSocket', Socket);
  onTestFinished(() => void vi.unstubAllGlobals());
  const onMilestone = vi.fn();
  listenForMilestones('http://node', { onMilestone, onEnd: () => undefined });
  const hear = (data: unknown) =>
    socket.dispatchEvent(Object.assign(new Event('message'), { data }));
  hear('7');
  expect(onMilestone).not.toHaveBeenCalled();
  hear(Uint8Array.of(0x30, 0).buffer);
  expect(onMilestone).toHaveBeenCalledOnce();
});
