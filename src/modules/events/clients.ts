/**
 * Clients of the broker, and the index of listeners by topic. Only this file sends to clients and
 * closes them.
 */
import { encodePacket, type Packet, PacketType } from '../../mqtt/packets.ts';
import { BLOCKS, packTopic, UNLOCKS } from '../../mqtt/topics.ts';
import { hasPassed, takeTurns } from '../../platform/clock.ts';
import { createAccounts } from './accounts.ts';
import { type Client, heldBytes, MESSAGE_OVERHEAD_BYTES } from './client.ts';
import { CLOSE_CODES, type CloseReason } from './close-codes.ts';
import type { Counts } from './publisher.ts';

/** Milliseconds from the connection to CONNECT. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Intervals of keep alive without a packet. MQTT-3.1.2-24 allows 1.5; the broker checks late. */
const SILENT_INTERVALS = 2;

/** Sends between two looks at the clock. By turns each 5 ms the last of 2,000 heard 40 % later. */
const SENDS_AT_ONCE = 10;

export type Clients = ReturnType<typeof createClients>;

export function createClients(counts: Counts) {
  const clients = new Map<WebSocket, Client>();
  /** Clients by address and ID. */
  const byId = new Map<string, Client>();
  const topics = createTopicIndex();
  const accounts = createAccounts<Client>();
  /** Closed sockets, with the function to call once they have gone. */
  const closing = new Map<WebSocket, () => void>();

  const turn = takeTurns();

  const isOpen = ({ socket }: Client) => clients.has(socket);
  const nameOf = ({ address, id }: Client) => `${address} ${id}`;

  function close(client: Client, reason: CloseReason, detail: string = reason): void {
    const { socket, waiting } = client;
    if (!clients.delete(socket)) return;
    if (client.timer !== undefined) clearTimeout(client.timer);
    for (const topic of client.topics.keys()) topics.remove(client, topic);
    if (byId.get(nameOf(client)) === client) byId.delete(nameOf(client));
    waiting.length = 0;
    client.reading = undefined;
    client.initial = undefined;
    closing.set(socket, accounts.end(client));
    counts.closes[reason] = (counts.closes[reason] ?? 0) + 1;
    if (reason === 'gone') gone(socket);
    // a reason has at most 123 bytes
    else socket.close(CLOSE_CODES[reason], detail.slice(0, 100).replace(/[^ -~]/g, '?'));
  }

  /** Closes a client that says no CONNECT in time, unless what it says waits for the broker. */
  function startTimer(client: Client, ms: number): void {
    client.timer = setTimeout(() => {
      if (client.waiting.length > 0) startTimer(client, CONNECT_TIMEOUT_MS);
      else close(client, 'silent');
    }, ms);
  }

  /** Notes that the socket was closed by its client, broke, or has gone after it was closed. */
  function gone(socket: WebSocket): void {
    const client = clients.get(socket);
    if (client !== undefined) close(client, 'gone');
    closing.get(socket)?.();
    closing.delete(socket);
  }

  function closeExcess(): void {
    for (let client = accounts.excess(); client !== undefined; client = accounts.excess())
      close(client, 'full');
  }

  function sendBytes(client: Client, bytes: Uint8Array<ArrayBuffer>): void {
    if (!isOpen(client)) return;
    try {
      client.socket.send(bytes);
    } catch {
      close(client, 'gone');
      return;
    }
    const debtors = accounts.send(client, bytes.length + MESSAGE_OVERHEAD_BYTES);
    for (const debtor of debtors) close(debtor, 'used-up');
  }

  return {
    get size() {
      return clients.size;
    },
    all: () => [...clients.values()],
    /** Undefined where the socket was closed. */
    get: (socket: WebSocket) => clients.get(socket),
    isOpen,
    topics,
    open(client: Client) {
      clients.set(client.socket, client);
      if (client.id) byId.set(nameOf(client), client);
      for (const topic of client.topics.keys()) topics.add(client, topic);
      accounts.open(client);
      closeExcess();
      if (client.id !== undefined || !isOpen(client)) return;
      // from the connection, if the object was evicted meanwhile
      const since = Math.max(0, Date.now() - client.seen);
      startTimer(client, CONNECT_TIMEOUT_MS - since);
    },
    /**
     * Names a client that has said CONNECT; closes an older one of its address with its ID. The same
     * ID at another address is another client, unlike in MQTT-3.1.4-2.
     */
    name(client: Client, id: string) {
      if (client.timer !== undefined) clearTimeout(client.timer);
      client.id = id;
      if (id === '') return;
      const older = byId.get(nameOf(client));
      if (older !== undefined) close(older, 'replaced');
      byId.set(nameOf(client), client);
    },
    /** Returns false where nothing is ever published to the topic, or the client listens to it. */
    listen(client: Client, topic: string, prefix: string) {
      const packed = client.topics.has(topic) ? undefined : packTopic(topic, prefix);
      if (packed === undefined) return false;
      client.topics.set(topic, packed.toHex());
      topics.add(client, topic);
      accounts.use(client, 'topics', client.topics.size);
      closeExcess();
      return true;
    },
    unlisten(client: Client, topic: string) {
      if (!client.topics.delete(topic)) return;
      topics.remove(client, topic);
      accounts.use(client, 'topics', client.topics.size);
    },
    hold(client: Client) {
      if (!isOpen(client)) return;
      accounts.use(client, 'held', heldBytes(client));
      closeExcess();
    },
    send: (client: Client, packet: Packet) => sendBytes(client, encodePacket(packet)),
    tell(client: Client, topic: string, payload: Uint8Array) {
      sendBytes(client, encodePacket({ type: PacketType.Publish, topic, payload }));
      counts.messages++;
    },
    /** Sends a message to all that listen; other requests have turns between. */
    async publish(topic: string, payload: Uint8Array) {
      const to = topics.listeners(topic);
      if (to.length === 0) return;
      const bytes = encodePacket({ type: PacketType.Publish, topic, payload });
      for (const client of to) {
        sendBytes(client, bytes);
        if (++counts.messages % SENDS_AT_ONCE === 0) await turn();
      }
    },
    close,
    closeSilent(now: number) {
      for (const client of clients.values()) {
        const { id, keepAlive, seen } = client;
        if (id === undefined || keepAlive === 0) continue;
        if (hasPassed(SILENT_INTERVALS * keepAlive * 1000, seen, now)) close(client, 'silent');
      }
    },
    gone,
  };
}

/** Beginnings of topics that `hasAny` knows. */
const BEGINNINGS = [BLOCKS, 'outputs/', UNLOCKS, 'transactions/', 'block-metadata/'];

function createTopicIndex() {
  /** Clients in arrays: a set of one takes four times as much. */
  const byTopic = new Map<string, Client[]>();
  const beginnings = new Map<string, number>();
  let size = 0;

  function count(topic: string, change: 1 | -1): void {
    size += change;
    for (const beginning of BEGINNINGS)
      if (topic.startsWith(beginning))
        beginnings.set(beginning, (beginnings.get(beginning) ?? 0) + change);
  }

  return {
    size: () => size,
    /** The client must not listen to it yet. */
    add(client: Client, topic: string) {
      const clients = byTopic.get(topic);
      if (clients === undefined) byTopic.set(topic, [client]);
      else clients.push(client);
      count(topic, 1);
    },
    /** The client must listen to it. */
    remove(client: Client, topic: string) {
      const clients = byTopic.get(topic)!;
      clients.splice(clients.indexOf(client), 1);
      if (clients.length === 0) byTopic.delete(topic);
      count(topic, -1);
    },
    /** Returns a copy, as listeners may be dropped meanwhile. */
    listeners: (topic: string) => [...(byTopic.get(topic) ?? [])],
    has: (topic: string) => byTopic.has(topic),
    hasAny: (beginning: string) => (beginnings.get(beginning) ?? 0) > 0,
  };
}
