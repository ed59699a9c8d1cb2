/**
 * Lies by events: WebSockets that say too much, or nothing.
 */
import { WebSocketServer } from 'ws';
import { encodePacket, PacketType } from '../../../src/mqtt/packets.ts';
import type { Lie } from './lie.ts';
import type { Upgrade } from './lying-node.ts';
import { withField, withHeaders } from './rules.ts';
import { INFO } from './sample-paths.ts';

/** A server of MQTT that sends a packet every so many milliseconds, whatever it is asked. */
function announcing(milliseconds: number, packet: Uint8Array): Upgrade {
  const server = new WebSocketServer({ noServer: true });
  return (request, socket, head) =>
    server.handleUpgrade(request, socket, head, (connection) => {
      const timer = setInterval(() => connection.send(packet), milliseconds);
      connection.on('close', () => clearInterval(timer)).on('error', () => {});
      // CONNACK
      connection.send(Uint8Array.of(0x20, 2, 0, 0));
    });
}

/** PUBLISH without anything. */
const EMPTY = Uint8Array.of(0x30, 0);

/** Each reading of info counts one up. */
function countingInfo() {
  let index = 20_000;
  return withField(INFO, 'status.confirmedMilestone.index', () => ++index);
}

/** PUBLISH of what is no block. */
const NO_BLOCK = encodePacket({
  type: PacketType.Publish,
  topic: 'blocks',
  payload: new Uint8Array(40_000).fill(0xff),
});

const OF_EVENTS = [
  { name: 'an event every 30 ms', upgrade: announcing(30, EMPTY) },
  { name: 'an event of 1 MB every 100 ms', upgrade: announcing(100, new Uint8Array(1 << 20)) },
  { name: 'events of no packet', upgrade: announcing(40, new Uint8Array()) },
].map((lie) => ({
  ...lie,
  rules: [countingInfo()],
  page: '#/',
  // it is read again, though events do not end
  shows: /ledger 200(?:0[3-9]|[1-9]\d) /,
}));

export const EVENT_LIES: readonly Lie[] = [
  ...OF_EVENTS,
  {
    name: 'blocks that are none, one every 5 ms',
    upgrade: announcing(5, NO_BLOCK),
    rules: [withHeaders(INFO, { 'x-blocks-by': 'feed' })],
    page: '#/',
    said: /Heard since milestone 17339: [1-9][\d,]* blocks, 0 transactions/,
  },
];
