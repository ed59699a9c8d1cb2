/**
 * A stranger who takes of the broker's connections and topics all that there is, or answers no close:
 * others are let in meanwhile, and all together have no more than they may.
 */
import { createPacketReader, encodePacket, PacketType } from '../../../src/mqtt/packets.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import type { Random } from '../../support/network/random.ts';
import { SHARED_TOPICS } from '../platform/limits.ts';
import type { Socket } from '../platform/sockets.ts';
import type { World } from '../world.ts';

/** `topics`: of each connection, and the bytes of the tags that they name. */
interface Crowd {
  connections: number;
  topics: number;
  tagBytes: number;
  /** Whether each breaks the protocol, and answers no close. */
  isRude?: true;
  /** Whether each leaves its topics and takes them again, as long as it may. */
  isRestless?: true;
}

const CROWDS: readonly Crowd[] = [
  // more than there may be together, of each
  { connections: 150, topics: 0, tagBytes: 0 },
  { connections: 25, topics: 100, tagBytes: 8 },
  { connections: 230, topics: 0, tagBytes: 0, isRude: true },
  // more than one may have, by their bytes
  { connections: 2, topics: 300, tagBytes: 60 },
  { connections: 5, topics: 100, tagBytes: 8, isRestless: true },
];

/** How often one may take so many topics at once (src/modules/events/client.ts). */
const TURNS = 5;
/** How whoever has more is closed, and whoever uses most of what all share. */
const OVER_LIMIT = 1008;
const FULL = 1013;

const EACH_MS = 20;
const SETTLED_MS = 2000;
/** Of one that breaks the protocol, and of a node that fails. */
const FAULTS = [1002, 1011];
export const HEADERS = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-protocol': 'mqtt',
};

/** What a client says first. */
export const GREETING = {
  type: PacketType.Connect,
  level: 4,
  cleanSession: true,
  clientId: '',
  keepAlive: 0,
} as const;

interface Connection {
  socket: Socket;
  /** Topics that were granted. */
  topics: number;
  /** How often. */
  turns: number;
}

export function crowd(world: World, random: Random): void {
  const { simulation, node } = world;
  const { connections, topics, tagBytes, isRude = false, isRestless } = random.pick(CROWDS);
  const { starts } = node.events;
  const { faults } = node;
  const { imports } = world;
  // an import closes all, who may not answer
  const isUndisturbed = () =>
    starts === node.events.starts && faults === node.faults && imports === world.imports;
  const open = new Set<Connection>();
  /** Of one of the crowd's site that has no topic. */
  let least: Socket | undefined;
  const site = random.chance(0.5) ? undefined : random.below(0xffff).toString(16);
  const [v4, at] = [`198.51.100.${random.between(1, 250)}`, simulation.now];
  const after = (ms: number, work: () => void) => simulation.atForWorld(at + ms, work);
  const connect = (address: string, accept: (socket: Socket) => void, refuse = () => {}) =>
    world.ask(
      '/api/mqtt/v1',
      (answer) => {
        if (answer.status !== 101) return refuse();
        accept((answer as unknown as { webSocket: Socket }).webSocket);
      },
      { headers: { ...HEADERS, 'cf-connecting-ip': address } },
    );
  const join = (socket: Socket) => {
    const own: Connection = { socket, topics: 0, turns: 0 };
    open.add(own);
    const tags = Array.from({ length: topics }, () => toHex(random.bytes(tagBytes)));
    const names = tags.map((tag) => `blocks/tagged-data/${tag}`);
    const reader = createPacketReader(1 << 20);
    socket.answersNoClose = isRude;
    socket.received = (data) => {
      for (const { type } of reader.read(new Uint8Array(data as ArrayBuffer))) {
        if (type === PacketType.SubscribeAck) {
          Object.assign(own, { topics, turns: own.turns + 1 });
          const packet = { type: PacketType.Unsubscribe, packetId: 1, topics: names } as const;
          if (isRestless) socket.send(encodePacket(packet));
          continue;
        }
        if (type === PacketType.UnsubscribeAck) own.topics = 0;
        else if (type !== PacketType.ConnectAck) continue;
        if (topics === 0) continue;
        const packet = { type: PacketType.Subscribe, packetId: 1, topics: names } as const;
        socket.send(encodePacket(packet));
      }
    };
    socket.ended = (code) => {
      open.delete(own);
      if (FAULTS.includes(code) && isUndisturbed())
        world.wrong('safety', `a client with ${topics} topics is closed: ${code}`);
      const isSoon = code === FULL || (code === OVER_LIMIT && own.turns !== TURNS);
      if (isRestless && isSoon && isUndisturbed())
        world.wrong('safety', `who took topics ${own.turns} times is closed: ${code}`);
    };
    socket.open(undefined);
    if (isRude) return socket.send('no packet');
    return socket.send(encodePacket(GREETING));
  };
  const addressOf = (i: number) =>
    site === undefined ? v4 : `2001:db8:${site}:${i.toString(16)}::1`;
  const stay = (socket: Socket) => {
    least = socket;
    socket.ended = (code) => {
      if (code === FULL && isUndisturbed())
        world.wrong('liveness', 'of a site who has least is closed for what others have');
    };
    socket.open(undefined);
    socket.send(encodePacket(GREETING));
  };
  if (topics > 0) connect(addressOf(connections), stay);
  for (let i = 0; i < connections; i++) after(i * EACH_MS, () => connect(addressOf(i), join));
  const settled = connections * EACH_MS + SETTLED_MS;
  after(settled, () => {
    const all = [...open, ...world.listeners].reduce((sum, each) => sum + (each.topics ?? 0), 0);
    if (all > SHARED_TOPICS && isUndisturbed())
      world.wrong('economy', `listeners have ${all} topics together`);
    const leave = (socket: Socket) => socket.close(1006);
    const refuse = () => {
      if (isUndisturbed()) world.wrong('liveness', 'a crowd keeps others from events');
    };
    connect([10, ...random.bytes(3)].join('.'), leave, refuse);
  });
  after(settled + SETTLED_MS, () => {
    const restless = [...open].find(({ turns }) => turns > TURNS);
    if (restless !== undefined && isUndisturbed())
      world.wrong('economy', `a client takes topics ${restless.turns} times`);
    for (const socket of [...open].map((each) => each.socket).concat(least ?? []))
      socket.close(1006);
  });
}
