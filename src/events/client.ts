/**
 * A client of the broker: what is kept of it in its socket's attachment, which outlives the object
 * when that is evicted, and what is kept in memory only.
 */
import { createPacketReader, type PacketReader } from '../mqtt/packets.ts';
import { packTopic, unpackTopics } from '../mqtt/topics.ts';
import { concatBytes } from '../stardust/encoding/bytes.ts';

/** Bytes of the longest packet that a client may send. */
const MAX_PACKET_BYTES = 1 << 16;

/**
 * Topics of a client, and bytes that they take when packed: an attachment has at most 16,384
 * (https://developers.cloudflare.com/durable-objects/api/websockets/).
 */
export const MAX_TOPICS = 400;
export const MAX_TOPIC_BYTES = 15_700;

/** Characters of a client ID; MQTT-3.1.3-5 asks for 23 at least. */
export const MAX_CLIENT_ID_LENGTH = 128;

export interface Client {
  readonly socket: WebSocket;
  readonly reader: PacketReader;
  /** Undefined before CONNECT; empty if the client left it to us. */
  id: string | undefined;
  /** Seconds, 0 for none. */
  keepAlive: number;
  /** When its last packet came, Unix milliseconds. */
  seen: number;
  /** Each with its packed form. */
  readonly topics: Map<string, Uint8Array>;
  /** Bytes that it was sent: since its last packet, and since it connected. */
  owed: number;
  sent: number;
  /** Bytes of its packets that wait for their turn. */
  waiting: number;
}

/** The attachment: only this file writes one. */
type Saved = [
  id: string | undefined,
  keepAlive: number,
  seen: number,
  sent: number,
  isPartial: boolean,
  topics: Uint8Array,
];

export function newClient(socket: WebSocket, now: number): Client {
  return {
    socket,
    reader: createPacketReader(MAX_PACKET_BYTES),
    id: undefined,
    keepAlive: 0,
    seen: now,
    topics: new Map(),
    owed: 0,
    sent: 0,
    waiting: 0,
  };
}

/** Writes what must outlive the object. */
export function saveClient({ socket, reader, id, keepAlive, seen, sent, topics }: Client): void {
  const saved: Saved = [
    id,
    keepAlive,
    seen,
    sent,
    reader.heldLength > 0,
    concatBytes(...topics.values()),
  ];
  socket.serializeAttachment(saved);
}

/**
 * The client of a socket that outlived the object; undefined where the beginning of a packet was in
 * memory, and is lost.
 *
 * @param prefix of the network's addresses
 */
export function restoreClient(socket: WebSocket, prefix: string): Client | undefined {
  const [id, keepAlive, seen, sent, isPartial, topics]: Saved = socket.deserializeAttachment();
  if (isPartial) return undefined;
  const client = { ...newClient(socket, seen), id, keepAlive, sent };
  for (const topic of unpackTopics(topics, prefix))
    client.topics.set(topic, packTopic(topic, prefix)!);
  return client;
}

/** Bytes that its topics take in the attachment. */
export function packedLength({ topics }: Client): number {
  return topics.values().reduce((sum, packed) => sum + packed.length, 0);
}
