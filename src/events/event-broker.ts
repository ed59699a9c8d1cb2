/**
 * The broker of events: MQTT 3.1.1 over WebSockets that hibernate
 * (docs/architecture.md#events). What it is told by the follower is a hint only: it reads all that
 * it publishes from D1, so that nothing is announced that is not committed.
 *
 * Nothing here keeps the object awake: no timer, no outgoing socket. What must outlive an eviction
 * is in the sockets' attachments (client.ts) and in one value of the object's storage.
 */
import { DurableObject } from 'cloudflare:workers';
import { hasPassed } from '../clock.ts';
import { LedgerDamaged } from '../ledger/core/checksum.ts';
import { LedgerMoved } from '../ledger/core/fence.ts';
import { LedgerUnreadable } from '../ledger/core/schema.ts';
import { describeError, writeLog } from '../log.ts';
import {
  type Connect,
  encodePacket,
  type Packet,
  PacketType,
  PROTOCOL_LEVEL,
  type Subscribe,
  type Unsubscribe,
} from '../mqtt/packets.ts';
import { BLOCKS, CONFIRMED_MILESTONE, LATEST_MILESTONE, packTopic } from '../mqtt/topics.ts';
import { Refusal } from '../stardust/encoding/bytes.ts';
import { milestoneInfoToJson } from '../stardust/json/event-json.ts';
import { tellBlock } from './block-events.ts';
import {
  type Client,
  MAX_CLIENT_ID_LENGTH,
  MAX_TOPIC_BYTES,
  MAX_TOPICS,
  newClient,
  packedLength,
  restoreClient,
  saveClient,
} from './client.ts';
import { CLOSE_CODES, type CloseReason } from './close-codes.ts';
import { initialReads } from './initial-events.ts';
import { type Audience, jsonBytes } from './milestone-events.ts';
import { type Counts, createPublisher } from './publisher.ts';
import { createTopicIndex } from './topic-index.ts';

/** Clients and topics of a node. */
const MAX_CLIENTS = 10_000;
const MAX_NODE_TOPICS = 100_000;

/**
 * Bytes of packets that are not whole, or wait for their turn: of a client, and of all together.
 * 400 topics, one a packet, are 100 KB.
 */
const MAX_WAITING_BYTES = 200_000;
const MAX_HELD_BYTES = 16_000_000;

/**
 * workerd does not say what a socket has not sent yet, and keeps it until it is sent or the
 * connection breaks, also after a close. So a client that reads nothing is known by its silence: it
 * is dropped when it was sent so many bytes since its last packet, which clients send at least once
 * in each keep alive interval; and, since one that reads nothing may still write, when it was sent
 * so many altogether.
 */
const MAX_OWED_BYTES = 8_000_000;
const MAX_SENT_BYTES = 64_000_000;

/**
 * Bytes that dropped clients may leave unread before the object starts again, and milliseconds that
 * they have to go: one that reads goes at once.
 */
const MAX_ABANDONED_BYTES = 64_000_000;
const GOING_MS = 10_000;

/** Of each message in memory, besides its bytes. */
const MESSAGE_OVERHEAD_BYTES = 64;

/** Milliseconds from the connection to CONNECT. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Intervals of keep alive without a packet. MQTT-3.1.2-24 allows 1.5; the broker looks only when it
 * has something to publish.
 */
const SILENT_INTERVALS = 2;

/** For GET /metrics. */
export interface EventCounts extends Counts {
  clients: number;
  /** Subscriptions. */
  topics: number;
}

/** What the follower is told. */
export interface EventDemand {
  /** The milestone that was published last; undefined while nobody listens. */
  published: number | undefined;
  /** Whether new blocks are wanted. */
  blocks: boolean;
}

export class EventBroker extends DurableObject<Env> {
  readonly #db = this.env.LEDGER;
  readonly #clients = new Map<WebSocket, Client>();
  readonly #byId = new Map<string, Client>();
  readonly #topics = createTopicIndex();

  /** Bytes of packets that are not whole, or wait. */
  #held = 0;
  /** By sockets that we closed and that are not gone: bytes that they may not have read. */
  readonly #abandoned = new Map<WebSocket, { bytes: number; since: number }>();

  readonly #publisher = createPublisher(this.#db, this.ctx.storage.kv);

  /** What changes subscriptions or reads for them, in turn with publishing. */
  readonly #queue: (() => Promise<void>)[] = [];
  #isDue = false;
  #working: Promise<void> | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    for (const socket of ctx.getWebSockets()) {
      if (socket.readyState !== WebSocket.OPEN) continue;
      const client = this.#restore(socket);
      this.#add(client ?? newClient(socket, Date.now()));
      if (client === undefined) this.#close(this.#clients.get(socket)!, 'evicted');
    }
  }

  /** Never throws: an object that cannot start would fail all its sockets for ever. */
  #restore(socket: WebSocket): Client | undefined {
    try {
      return restoreClient(socket, this.#publisher.last()?.prefix ?? '');
    } catch (error) {
      writeLog('error', 'events.failed', { error: describeError(error) });
      return undefined;
    }
  }

  /** Accepts a WebSocket. Whoever calls has checked that the request asks for one. */
  override async fetch(): Promise<Response> {
    if (this.ctx.getWebSockets().length >= MAX_CLIENTS) return new Response(null, { status: 503 });
    const [theirs, ours] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    this.ctx.acceptWebSocket(ours);
    const client = newClient(ours, Date.now());
    this.#add(client);
    saveClient(client);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  /**
   * The follower has applied a milestone, or its pass has ended. Resolves when all that is in D1
   * has been published.
   */
  async applied(): Promise<EventDemand> {
    this.#dropSilent();
    this.#endAbandoned();
    if (this.#topics.size() === 0) {
      this.#publisher.forget();
      return { published: undefined, blocks: false };
    }
    this.#isDue = true;
    await this.#work();
    return { published: this.#publisher.last()?.index, blocks: this.#topics.hasAny(BLOCKS) };
  }

  /** The follower has stored new blocks. */
  stored(blocks: readonly Uint8Array[]): void {
    const audience = this.#audience();
    for (const bytes of blocks) tellBlock(bytes, audience);
  }

  readCounts(): EventCounts {
    return { clients: this.#clients.size, topics: this.#topics.size(), ...this.#publisher.counts };
  }

  override async webSocketMessage(socket: WebSocket, message: ArrayBuffer | string): Promise<void> {
    const client = this.#clients.get(socket);
    if (client === undefined) return;
    for (const packet of this.#read(client, message)) {
      this.#take(client, packet);
      if (!this.#clients.has(socket)) return;
    }
    if (this.#held > MAX_HELD_BYTES) this.#close(client, 'full');
    if (!this.#clients.has(socket)) return;
    saveClient(client);
    await this.#work();
  }

  /** The packets that end in it; none where they break the protocol, which ends the connection. */
  #read(client: Client, message: ArrayBuffer | string): Packet[] {
    // MQTT-6.0.0-1
    if (typeof message === 'string') {
      this.#close(client, 'malformed', 'a message that is not binary');
      return [];
    }
    const { reader } = client;
    const heldBefore = reader.heldLength;
    try {
      const packets = reader.read(new Uint8Array(message));
      client.seen = Date.now();
      if (packets.length > 0) client.owed = 0;
      this.#held += reader.heldLength - heldBefore;
      return packets;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#held += reader.heldLength - heldBefore;
      this.#close(client, 'malformed', error.message);
      return [];
    }
  }

  override webSocketClose(socket: WebSocket): void {
    this.#gone(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.#gone(socket);
  }

  #gone(socket: WebSocket): void {
    const client = this.#clients.get(socket);
    if (client !== undefined) this.#close(client, 'gone');
    this.#abandoned.delete(socket);
  }

  #take(client: Client, packet: Packet): void {
    if (packet.type === PacketType.Connect) this.#connect(client, packet);
    // MQTT-3.1.0-1
    else if (client.id === undefined) this.#close(client, 'malformed', 'no CONNECT');
    else this.#takeConnected(client, packet);
  }

  #takeConnected(client: Client, packet: Exclude<Packet, Connect>): void {
    switch (packet.type) {
      case PacketType.PingRequest:
        this.#send(client, { type: PacketType.PingResponse });
        break;
      case PacketType.Disconnect:
        this.#close(client, 'disconnected');
        break;
      case PacketType.Subscribe:
        this.#wait(client, packet, () => this.#subscribe(client, packet));
        break;
      case PacketType.Unsubscribe:
        this.#wait(client, packet, async () => this.#unsubscribe(client, packet));
        break;
      case PacketType.Publish:
        // MQTT-3.3.5-2: acknowledged and dropped, so that the client does not wait
        if (packet.acknowledge !== undefined) {
          const { qos, packetId } = packet.acknowledge;
          const type = qos === 1 ? PacketType.PublishAck : PacketType.PublishReceived;
          this.#send(client, { type, packetId });
        }
        break;
      case PacketType.PublishRelease:
        this.#send(client, { type: PacketType.PublishComplete, packetId: packet.packetId });
        break;
      case PacketType.PublishAck:
      case PacketType.PublishReceived:
      case PacketType.PublishComplete:
        break;
      default:
        this.#close(client, 'malformed', 'a packet of servers');
    }
  }

  #connect(client: Client, { level, cleanSession, clientId, keepAlive }: Connect): void {
    // MQTT-3.1.0-2
    if (client.id !== undefined) {
      this.#close(client, 'malformed', 'a second CONNECT');
      return;
    }
    // MQTT-3.1.2-2, MQTT-3.1.3-8
    const isRefused = clientId.length > MAX_CLIENT_ID_LENGTH || (clientId === '' && !cleanSession);
    const returnCode = level !== PROTOCOL_LEVEL ? 1 : isRefused ? 2 : 0;
    // no session outlives its connection, so none is present (MQTT-3.2.2-1)
    this.#send(client, { type: PacketType.ConnectAck, sessionPresent: false, returnCode });
    if (returnCode !== 0) {
      this.#close(client, 'malformed', `CONNACK ${returnCode}`);
      return;
    }
    // MQTT-3.1.4-2
    const older = this.#byId.get(clientId);
    if (older !== undefined) this.#close(older, 'replaced');
    client.id = clientId;
    client.keepAlive = keepAlive;
    if (clientId !== '') this.#byId.set(clientId, client);
  }

  #unsubscribe(client: Client, { packetId, topics }: Unsubscribe): void {
    for (const topic of topics) this.#removeTopic(client, topic);
    saveClient(client);
    this.#send(client, { type: PacketType.UnsubscribeAck, packetId });
  }

  /** Does it in turn with publishing, unless the client is gone by then. */
  #enqueue(client: Client, act: () => Promise<void>): void {
    this.#queue.push(async () => {
      if (!this.#clients.has(client.socket)) return;
      try {
        await act();
      } catch (error) {
        this.#close(client, 'failed');
        throw error;
      }
    });
  }

  /** The same for a packet, which takes memory until then. */
  #wait(client: Client, packet: { topics: string[] }, act: () => Promise<void>): void {
    const bytes = packet.topics.reduce((sum, topic) => sum + 2 * topic.length + 32, 32);
    client.waiting += bytes;
    this.#held += bytes;
    this.#enqueue(client, () => {
      client.waiting -= bytes;
      this.#held -= bytes;
      return act();
    });
    if (client.waiting > MAX_WAITING_BYTES) this.#close(client, 'over-limit');
  }

  async #subscribe(client: Client, { packetId, topics }: Subscribe): Promise<void> {
    const published = await this.#publisher.begin();
    if (published === undefined) {
      this.#close(client, 'failed', 'no ledger was imported yet');
      return;
    }
    const known = topics.filter((topic) => this.#addTopic(client, topic, published.prefix));
    if (client.topics.size > MAX_TOPICS || packedLength(client) > MAX_TOPIC_BYTES)
      this.#close(client, 'over-limit');
    if (this.#topics.size() > MAX_NODE_TOPICS) this.#close(client, 'full');
    if (!this.#clients.has(client.socket)) return;
    saveClient(client);
    // MQTT-3.8.4-6: QoS 0 at most; filters that nothing is published to are granted too
    const returnCodes = topics.map(() => 0);
    this.#send(client, { type: PacketType.SubscribeAck, packetId, returnCodes });
    for (const topic of [LATEST_MILESTONE, CONFIRMED_MILESTONE])
      if (known.includes(topic))
        this.#publishTo([client], topic, jsonBytes(milestoneInfoToJson(published)));
    for (const read of initialReads(this.#db, known)) {
      this.#enqueue(client, async () => {
        for (const { topic, payload } of await read())
          if (client.topics.has(topic)) this.#publishTo([client], topic, payload);
      });
    }
  }

  /** One thing at a time: so a subscription begins between two milestones, never within one. */
  #work(): Promise<void> {
    if (!this.#isDue && this.#queue.length === 0) return Promise.resolve();
    this.#working ??= this.#workThrough();
    return this.#working;
  }

  async #workThrough(): Promise<void> {
    for (;;) {
      const act = this.#isDue ? () => this.#publishNext() : this.#queue.shift();
      if (act === undefined) {
        // at once: what comes next must not be left to this run
        this.#working = undefined;
        return;
      }
      try {
        await act();
      } catch (error) {
        this.#isDue = false;
        this.#fail(error);
      }
    }
  }

  /** Whether clients can still be told everything: if not, they connect again and catch up. */
  #fail(error: unknown): void {
    writeLog('error', 'events.failed', { error: describeError(error) });
    const isLost = [LedgerMoved, LedgerDamaged, LedgerUnreadable].some(
      (type) => error instanceof type,
    );
    if (isLost) this.#closeAll();
  }

  async #publishNext(): Promise<void> {
    // before it reads: what the follower tells meanwhile must not be lost
    this.#isDue = false;
    if (await this.#publisher.publishNext(this.#audience())) this.#isDue = true;
  }

  #audience(): Audience {
    const publisher = this.#publisher;
    return {
      hasAny: this.#topics.hasAny,
      has: this.#topics.has,
      tell: (topic, payload) => this.#publishTo(this.#topics.listeners(topic), topic, payload),
      get prefix() {
        return publisher.last()?.prefix ?? '';
      },
    };
  }

  #publishTo(clients: readonly Client[], topic: string, payload: Uint8Array): void {
    if (clients.length === 0) return;
    const bytes = encodePacket({ type: PacketType.Publish, topic, payload });
    for (const client of clients) this.#sendBytes(client, bytes);
    this.#publisher.counts.messages += clients.length;
  }

  #send(client: Client, packet: Packet): void {
    this.#sendBytes(client, encodePacket(packet));
  }

  #sendBytes(client: Client, bytes: Uint8Array<ArrayBuffer>): void {
    try {
      client.socket.send(bytes);
    } catch {
      this.#close(client, 'gone');
      return;
    }
    const length = bytes.length + MESSAGE_OVERHEAD_BYTES;
    client.owed += length;
    client.sent += length;
    if (client.owed > MAX_OWED_BYTES) this.#close(client, 'not-reading');
    else if (client.sent > MAX_SENT_BYTES) this.#close(client, 'used-up');
  }

  #add(client: Client): void {
    this.#clients.set(client.socket, client);
    if (client.id) this.#byId.set(client.id, client);
    for (const topic of client.topics.keys()) this.#topics.add(client, topic);
  }

  /** Returns false where nothing is ever published to the topic. */
  #addTopic(client: Client, topic: string, prefix: string): boolean {
    if (client.topics.has(topic)) return true;
    const packed = packTopic(topic, prefix);
    if (packed === undefined) return false;
    client.topics.set(topic, packed);
    this.#topics.add(client, topic);
    return true;
  }

  #removeTopic(client: Client, topic: string): void {
    if (client.topics.delete(topic)) this.#topics.remove(client, topic);
  }

  #dropSilent(): void {
    const now = Date.now();
    for (const client of [...this.#clients.values()]) {
      const { id, keepAlive, seen } = client;
      if (id !== undefined && keepAlive === 0) continue;
      const patience = id === undefined ? CONNECT_TIMEOUT_MS : SILENT_INTERVALS * keepAlive * 1000;
      if (hasPassed(patience, seen, now)) this.#close(client, 'silent');
    }
  }

  #closeAll(): void {
    for (const client of [...this.#clients.values()]) this.#close(client, 'ledger-moved');
    this.#publisher.forget();
  }

  #close(client: Client, reason: CloseReason, detail = reason as string): void {
    const { socket, id, reader, topics, owed, sent, waiting } = client;
    if (!this.#clients.delete(socket)) return;
    for (const topic of [...topics.keys()]) this.#removeTopic(client, topic);
    if (id && this.#byId.get(id) === client) this.#byId.delete(id);
    this.#held -= reader.heldLength + waiting;
    const { closes } = this.#publisher.counts;
    closes[reason] = (closes[reason] ?? 0) + 1;
    if (reason === 'gone') return;
    // that it pings does not prove that it reads
    const bytes = reason === 'not-reading' || reason === 'used-up' ? sent : owed;
    this.#abandoned.set(socket, { bytes, since: Date.now() });
    // a reason has at most 123 bytes
    socket.close(CLOSE_CODES[reason], detail.slice(0, 100).replace(/[^ -~]/g, '?'));
  }

  /** What is not read stays in memory until the connection breaks, which nothing else can make it. */
  #endAbandoned(): void {
    const now = Date.now();
    const left = this.#abandoned
      .values()
      .filter(({ since }) => hasPassed(GOING_MS, since, now))
      .reduce((sum, { bytes }) => sum + bytes, 0);
    if (left > MAX_ABANDONED_BYTES) this.ctx.abort('clients that were dropped do not go');
  }
}
