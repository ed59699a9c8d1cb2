/** What the page says to the broker, against the codec that the broker has. */
import { expect, it } from 'vitest';
import { CONNECT, SUBSCRIBE } from '../../explorer/node/events.ts';
import { encodePacket, PacketType, PROTOCOL_LEVEL } from '../../src/mqtt/packets.ts';
import { CONFIRMED_MILESTONE } from '../../src/mqtt/topics.ts';

const textOf = (bytes: Uint8Array) => String.fromCharCode(...bytes);

it('connects, and subscribes to the confirmed milestone', () => {
  const connect = { cleanSession: true, clientId: '', keepAlive: 0 };
  expect(CONNECT).toBe(
    textOf(encodePacket({ type: PacketType.Connect, level: PROTOCOL_LEVEL, ...connect })),
  );
  expect(SUBSCRIBE).toBe(
    textOf(
      encodePacket({ type: PacketType.Subscribe, packetId: 1, topics: [CONFIRMED_MILESTONE] }),
    ),
  );
});
