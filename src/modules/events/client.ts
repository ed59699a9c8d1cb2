/** A client of the broker: its state in memory, and in its socket's attachment, which lasts. */
import { createPacketReader, type Packet, type PacketReader } from '../../mqtt/packets.ts';
import { packTopic, unpackTopics } from '../../mqtt/topics.ts';
import { type ClientPath, clientPath } from '../../platform/client-path.ts';
import { type Holder, newUsage } from './accounts.ts';
import type { EventMessage } from './initial-events.ts';

/** Key of the client's address, in the request that connects it to the broker. */
export const CLIENT_HEADER = 'client-key';

/** Bytes of the longest packet that a client may send. */
const MAX_PACKET_BYTES = 1 << 16;

/** Bytes of each message in memory, besides its own. */
export const MESSAGE_OVERHEAD_BYTES = 64;

/**
 * Bytes of a client's topics when packed: an attachment has at most 16,384
 * (https://developers.cloudflare.com/durable-objects/api/websockets/).
 */
export const MAX_TOPIC_BYTES = 15_700;

/** Topics that a connection may add at once, as D1 is read for each; then one each ten seconds. */
export const MAX_ADDED_TOPICS = 500;
const ADDED_TOPIC_MS = 10_000;

/** Characters of a client ID; MQTT-3.1.3-5 asks for 23 at least. */
export const MAX_CLIENT_ID_LENGTH = 128;

export interface Client extends Holder {
  readonly socket: WebSocket;
  readonly client: ClientPath;
  readonly reader: PacketReader;
  /** WebSocket messages that wait for their turn, and the packets of the one that is read now. */
  readonly waiting: Uint8Array[];
  reading: { packets: Generator<Packet, void>; length: number } | undefined;
  waitingBytes: number;
  /** Messages that it is still to be told of its new subscriptions. */
  initial: AsyncGenerator<EventMessage[], void> | undefined;
  /** Undefined before CONNECT; empty if the client left it to us. */
  id: string | undefined;
  /** Seconds, 0 for none. */
  keepAlive: number;
  /** Unix milliseconds when its last message came; before CONNECT, when it connected. */
  seen: number;
  /** Ends its connection if no CONNECT comes. */
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Packed, in hex: short arrays of bytes take three times as much. */
  readonly topics: Map<string, string>;
  /** When all that it added so far will be allowed for (GCRA). */
  toppedUpAt: number;
}

/** The attachment, which only this file writes. */
type Saved = [
  address: string,
  id: string | undefined,
  keepAlive: number,
  seen: number,
  sent: number,
  isPartial: boolean,
  topics: Uint8Array,
  toppedUpAt?: number,
];

export function newClient(socket: WebSocket, address: string, now: number, sent = 0): Client {
  return {
    socket,
    address,
    client: clientPath(address),
    usage: newUsage(sent),
    reader: createPacketReader(MAX_PACKET_BYTES),
    waiting: [],
    reading: undefined,
    waitingBytes: 0,
    initial: undefined,
    id: undefined,
    keepAlive: 0,
    seen: now,
    timer: undefined,
    topics: new Map(),
    toppedUpAt: 0,
  };
}

export function saveClient(client: Client): void {
  const { socket, address, id, keepAlive, seen, usage, topics, toppedUpAt } = client;
  const isPartial = heldBytes(client) > 0 || client.initial !== undefined;
  const packed = Uint8Array.fromHex([...topics.values()].join(''));
  const saved: Saved = [address, id, keepAlive, seen, usage.sent, isPartial, packed, toppedUpAt];
  socket.serializeAttachment(saved);
}

/**
 * Restores the client of a socket that outlived the object. `isWhole` is false if part of a packet,
 * or a message that it was to be told, was in memory and is lost.
 *
 * @param prefix of the network's addresses
 */
export function restoreClient(
  socket: WebSocket,
  prefix: string,
): { client: Client; isWhole: boolean } {
  const [address, id, keepAlive, seen, sent, isPartial, topics, toppedUpAt = 0]: Saved =
    socket.deserializeAttachment();
  const client = { ...newClient(socket, address, seen, sent), id, keepAlive, toppedUpAt };
  for (const topic of unpackTopics(topics, prefix))
    client.topics.set(topic, packTopic(topic, prefix)!.toHex());
  client.usage.topics = client.topics.size;
  return { client, isWhole: !isPartial };
}

/** Bytes that its topics take in the attachment. */
export function packedLength({ topics }: Client): number {
  return topics.values().reduce((sum, packed) => sum + packed.length / 2, 0);
}

/** Bytes of its packets that are not whole, or wait for their turn. */
export function heldBytes({ waitingBytes, reader }: Client): number {
  return waitingBytes + reader.heldLength;
}

/** Whether it waits for a turn. */
export const hasWork = ({ waiting, reading, initial }: Client): boolean =>
  waiting.length > 0 || reading !== undefined || initial !== undefined;

/** Counts a topic that it added; false if these are too many. */
export function mayAddTopic(client: Client, now: number): boolean {
  const earliest = now - MAX_ADDED_TOPICS * ADDED_TOPIC_MS;
  client.toppedUpAt = Math.max(client.toppedUpAt, earliest) + ADDED_TOPIC_MS;
  return client.toppedUpAt <= now;
}

/** Adds the bytes of a WebSocket message to those that wait. */
export function addMessage(client: Client, message: Uint8Array): void {
  client.waiting.push(message);
  client.waitingBytes += message.length + MESSAGE_OVERHEAD_BYTES;
}

/** Returns its next packet, if one is whole. Throws a StardustError if it breaks the protocol. */
export function takePacket(client: Client): Packet | undefined {
  for (;;) {
    const next = client.reading?.packets.next();
    if (next?.done === false) return next.value;
    client.waitingBytes -= client.reading?.length ?? 0;
    const message = client.waiting.shift();
    client.reading = message && {
      packets: client.reader.read(message),
      length: message.length + MESSAGE_OVERHEAD_BYTES,
    };
    if (client.reading === undefined) return undefined;
  }
}
