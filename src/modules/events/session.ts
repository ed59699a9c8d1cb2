/** Handles packets in slices: some packets, a subscription, or one read for a subscriber. */
import type { Database } from '../../ledger/core/database.ts';
import {
  type Connect,
  MAX_TOPICS,
  type Packet,
  PacketType,
  PROTOCOL_LEVEL,
  type Subscribe,
} from '../../mqtt/packets.ts';
import { CONFIRMED_MILESTONE, LATEST_MILESTONE } from '../../mqtt/topics.ts';
import type { MilestoneKeys } from '../../stardust/milestone-keys.ts';
import {
  type Client,
  MAX_CLIENT_ID_LENGTH,
  MAX_TOPIC_BYTES,
  mayAddTopic,
  packedLength,
  saveClient,
  takePacket,
} from './client.ts';
import type { Clients } from './clients.ts';
import { milestoneInfoToJson } from './event-json.ts';
import { tellInitial } from './initial-events.ts';
import { jsonBytes } from './milestone-events.ts';
import type { PublishedMilestone } from './publisher.ts';

/** Packets of a slice: half a millisecond. */
const SLICE_PACKETS = 64;

export interface SessionContext {
  db: Database;
  /** Keys that sign milestones, where they are known. */
  keys: MilestoneKeys | undefined;
  clients: Clients;
  /** Returns the milestone published last; undefined without a ledger. */
  begin(): Promise<PublishedMilestone | undefined>;
}

/** Does a part of the client's work. Throws a StardustError for the protocol, and what D1 throws. */
export async function takeSlice(context: SessionContext, client: Client): Promise<void> {
  const { clients } = context;
  if (client.initial !== undefined) {
    const { done, value } = await client.initial.next();
    if (done) client.initial = undefined;
    else for (const { topic, payload } of value) clients.tell(client, topic, payload);
  } else {
    for (let i = 0; i < SLICE_PACKETS && clients.isOpen(client); i++) {
      const packet = takePacket(client);
      if (packet === undefined) break;
      if (packet.type === PacketType.Subscribe && client.id !== undefined)
        await subscribe(context, client, packet);
      else takeAtOnce(clients, client, packet);
      // it may have 400 topics: then it is a slice
      if (packet.type === PacketType.Subscribe || packet.type === PacketType.Unsubscribe) break;
    }
  }
  clients.hold(client);
  if (clients.isOpen(client)) saveClient(client);
}

/** Handles all packets except SUBSCRIBE. */
function takeAtOnce(clients: Clients, client: Client, packet: Packet): void {
  // MQTT-3.1.0-1
  if (client.id === undefined && packet.type !== PacketType.Connect) {
    clients.close(client, 'malformed', 'no CONNECT');
    return;
  }
  switch (packet.type) {
    case PacketType.Connect:
      connect(clients, client, packet);
      break;
    case PacketType.PingRequest:
      clients.send(client, { type: PacketType.PingResponse });
      break;
    case PacketType.Disconnect:
      clients.close(client, 'disconnected');
      break;
    case PacketType.Unsubscribe:
      for (const topic of packet.topics) clients.unlisten(client, topic);
      clients.send(client, { type: PacketType.UnsubscribeAck, packetId: packet.packetId });
      break;
    case PacketType.Publish:
      // MQTT-3.3.5-2: acknowledged and dropped, so that the client does not wait
      if (packet.acknowledge !== undefined) {
        const { qos, packetId } = packet.acknowledge;
        const type = qos === 1 ? PacketType.PublishAck : PacketType.PublishReceived;
        clients.send(client, { type, packetId });
      }
      break;
    case PacketType.PublishRelease:
      clients.send(client, { type: PacketType.PublishComplete, packetId: packet.packetId });
      break;
    case PacketType.PublishAck:
    case PacketType.PublishReceived:
    case PacketType.PublishComplete:
      break;
    default:
      clients.close(client, 'malformed', 'a packet of servers');
  }
}

function connect(
  clients: Clients,
  client: Client,
  { level, cleanSession, clientId, keepAlive }: Connect,
): void {
  // MQTT-3.1.0-2
  if (client.id !== undefined) {
    clients.close(client, 'malformed', 'a second CONNECT');
    return;
  }
  // MQTT-3.1.2-2, MQTT-3.1.3-8
  const isRefused = clientId.length > MAX_CLIENT_ID_LENGTH || (clientId === '' && !cleanSession);
  const returnCode = level !== PROTOCOL_LEVEL ? 1 : isRefused ? 2 : 0;
  // no session outlives its connection, so none is present (MQTT-3.2.2-1)
  clients.send(client, { type: PacketType.ConnectAck, sessionPresent: false, returnCode });
  if (returnCode !== 0) {
    clients.close(client, 'malformed', `CONNACK ${returnCode}`);
    return;
  }
  client.keepAlive = keepAlive;
  client.seen = Date.now();
  clients.name(client, clientId);
}

async function subscribe(
  { db, keys, clients, begin }: SessionContext,
  client: Client,
  { packetId, topics }: Subscribe,
): Promise<void> {
  const published = await begin();
  if (published === undefined) {
    clients.close(client, 'failed', 'no ledger was imported yet');
    return;
  }
  if (!clients.isOpen(client)) return;
  // those that it has already are not told again
  const added = new Set<string>();
  let bytes = packedLength(client);
  for (const topic of topics) {
    if (!clients.listen(client, topic, published.prefix)) continue;
    added.add(topic);
    bytes += (client.topics.get(topic)?.length ?? 0) / 2;
    const isOverLimit = client.topics.size > MAX_TOPICS || bytes > MAX_TOPIC_BYTES;
    if (isOverLimit || !mayAddTopic(client, Date.now())) clients.close(client, 'over-limit');
    if (!clients.isOpen(client)) return;
  }
  // MQTT-3.8.4-6: QoS 0 at most; filters that nothing is published to are granted too
  const returnCodes = topics.map(() => 0);
  clients.send(client, { type: PacketType.SubscribeAck, packetId, returnCodes });
  for (const topic of [LATEST_MILESTONE, CONFIRMED_MILESTONE])
    if (added.has(topic)) clients.tell(client, topic, jsonBytes(milestoneInfoToJson(published)));
  if (clients.isOpen(client)) client.initial = tellInitial(db, [...added], keys);
}
