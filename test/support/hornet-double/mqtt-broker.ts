/**
 * A node's MQTT plug-in: a real broker behind `/api/mqtt/v1` that pushes what the node comes to
 * know, and loses, doubles, reorders or spoils messages if told so.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Aedes, type Client } from 'aedes';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import type { NodeState } from './node-state.ts';
import { MQTT_ROUTE } from './routes.ts';

export interface PushedMessage {
  topic: string;
  payload: Uint8Array;
}

/** What becomes of a message: none, one or more are sent instead. */
export type Disturbance = (message: PushedMessage) => PushedMessage[];

export interface MqttBroker {
  /** Whether the plug-in runs: its route is listed and connections are taken. */
  running: boolean;
  disturb: Disturbance | undefined;
  /** Connections at this moment. */
  readonly connections: number;
  /** How often a client subscribed. */
  subscribed: number;
  /** Pushes all blocks and milestones that the node has come to know since the last time. */
  pushNews(): Promise<void>;
  /** Pushes any message to whoever subscribed to its topic. */
  push(message: PushedMessage): Promise<void>;
  /** Ends all connections, as a node does that goes away. */
  cut(): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  stop(): Promise<void>;
}

const CONFIRMED = 'milestone-info/confirmed';

/**
 * What the node knows already is not pushed any more.
 *
 * @param clients `mqtt.js` sends more frames than it causes events, for each of which aedes reads
 *   once: it is given all that came. Read like that, our follower was late to subscribe in 6 of
 *   12 runs on a busy machine.
 */
export async function startMqttBroker(
  node: NodeState,
  clients: 'ours' | 'mqtt.js' = 'ours',
): Promise<MqttBroker> {
  const broker = await Aedes.createBroker();
  const server = new WebSocketServer({ noServer: true, handleProtocols: () => 'mqtt' });
  const sockets = new Set<WebSocket>();
  const pushed = new Set<string>();
  let confirmed = node.confirmed;

  function takeNews(): PushedMessage[] {
    const news: PushedMessage[] = [];
    for (const { id } of node.network.blocks.values()) {
      const block = pushed.has(id) ? undefined : node.block(id);
      if (block === undefined) continue;
      pushed.add(id);
      news.push({ topic: 'blocks', payload: block.bytes });
    }
    for (const { index, id } of node.network.milestones) {
      const milestone = pushed.has(id) ? undefined : node.milestone(index);
      if (milestone === undefined) continue;
      pushed.add(id);
      news.push({ topic: 'milestones', payload: milestone.payload });
    }
    const moved = node.confirmed !== confirmed ? confirmedMessage(node) : undefined;
    confirmed = node.confirmed;
    return moved === undefined ? news : [...news, moved];
  }
  takeNews();

  // inx-mqtt tells whoever subscribes, and all others, where the node is
  broker.on('subscribe', (subscriptions, _client: Client) => {
    self.subscribed++;
    const message = confirmedMessage(node);
    if (message !== undefined && subscriptions.some(({ topic }) => topic === CONFIRMED))
      void self.push(message);
  });

  const self: MqttBroker = {
    running: true,
    disturb: undefined,
    subscribed: 0,
    get connections() {
      return sockets.size;
    },
    async pushNews() {
      for (const message of takeNews()) {
        for (const sent of self.disturb?.(message) ?? [message]) await self.push(sent);
      }
    },
    push({ topic, payload }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const packet = { cmd: 'publish', qos: 0, dup: false, retain: false } as const;
      broker.publish({ ...packet, topic, payload: Buffer.from(payload) }, (error) =>
        error === undefined || error === null ? resolve() : reject(error),
      );
      return promise;
    },
    cut() {
      for (const socket of sockets) socket.terminate();
    },
    upgrade(request, socket, head) {
      if (!self.running || request.url !== `/api/${MQTT_ROUTE}`) {
        socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
        return;
      }
      server.handleUpgrade(request, socket, head, (opened) => {
        sockets.add(opened);
        opened.on('close', () => sockets.delete(opened));
        const stream = createWebSocketStream(opened);
        if (clients === 'mqtt.js') readAllAtOnce(stream);
        // whoever is cut off in the middle of a message
        stream.on('error', () => {});
        broker.handle(stream, request);
      });
    },
    async stop() {
      self.cut();
      await broker.close();
    },
  };
  return self;
}

function readAllAtOnce(stream: Duplex): void {
  const readChunk = stream.read.bind(stream);
  stream.read = () => {
    const chunks = [];
    for (let chunk = readChunk(); chunk !== null; chunk = readChunk()) chunks.push(chunk);
    return chunks.length > 0 ? Buffer.concat(chunks) : null;
  };
}

/** JSON as inx-mqtt writes it. Undefined at the genesis, which is no milestone. */
function confirmedMessage(node: NodeState): PushedMessage | undefined {
  const milestone = node.milestone(node.confirmed);
  if (milestone === undefined) return undefined;
  const { index, timestamp, id } = milestone;
  const payload = Buffer.from(JSON.stringify({ index, timestamp, milestoneId: id }));
  return { topic: CONFIRMED, payload };
}

/** A message is lost, comes twice, or after the next ones, or has another byte. */
export const WAYS = ['dropped', 'doubled', 'late', 'corrupt'] as const;

/** Every `period`-th message is disturbed, in these ways by turns; one that is late, by half a period. */
export function disturbing(ways: readonly (typeof WAYS)[number][], period: number): Disturbance {
  let count = 0;
  const held: PushedMessage[] = [];
  return (message) => {
    const { topic, payload } = message;
    const way = ++count % period === 0 ? ways[(count / period) % ways.length] : undefined;
    if (way === 'dropped') return [];
    if (way === 'doubled') return [message, message];
    const at = (count * 7919) % payload.length;
    if (way === 'corrupt') return [{ topic, payload: payload.with(at, payload[at]! ^ 0x10) }];
    if (way === 'late') held.push(message);
    const late = count % period === period >> 1 ? held.splice(0) : [];
    return way === 'late' ? [] : [message, ...late];
  };
}
