/**
 * A client of events: each milestone once and in order, after all blocks that it references, in
 * white-flag order. It connects again where it was cut off, and then asks what it has missed.
 */
import { createPacketReader, encodePacket, PacketType } from '../../../src/mqtt/packets.ts';
import { coneOf } from '../../support/network/network-model.ts';
import type { Socket } from '../platform/sockets.ts';
import type { World } from '../world.ts';

const TOPICS = ['milestone-info/confirmed', 'block-metadata/referenced'];
const AGAIN_MS = 1000;
const HEADERS = { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-protocol': 'mqtt' };

export function listen(world: World, connections = 3): void {
  world.ask(
    '/api/mqtt/v1',
    (answer) => {
      world.note(`events ${answer.status}`);
      if (answer.status === 101)
        follow(world, (answer as unknown as { webSocket: Socket }).webSocket, connections);
    },
    { headers: HEADERS },
  );
}

function follow(world: World, socket: Socket, connections: number): void {
  const { network } = world;
  const reader = createPacketReader(1 << 20);
  let last: number | undefined;
  let blocks: string[] = [];
  const generation = world.imports;
  const confirm = (index: number) => {
    if (generation !== world.imports || world.isDamaged) return;
    if (last !== undefined && index !== last + 1)
      world.wrong('safety', `event of milestone ${index} after ${last}`);
    const truth = coneOf(network, index).map(({ id }) => id);
    // the first one is what was announced last, before this client came
    if (last !== undefined && JSON.stringify(blocks) !== JSON.stringify(truth))
      world.wrong(
        'safety',
        `events of milestone ${index}: blocks ${blocks.length} of ${truth.length}`,
      );
    blocks = [];
    last = index;
    world.note('event', String(index));
  };
  socket.received = (data) => {
    for (const packet of reader.read(new Uint8Array(data as ArrayBuffer))) {
      if (packet.type === PacketType.ConnectAck)
        socket.send(encodePacket({ type: PacketType.Subscribe, packetId: 1, topics: TOPICS }));
      if (packet.type !== PacketType.Publish) continue;
      const value = JSON.parse(new TextDecoder().decode(packet.payload));
      if (packet.topic === TOPICS[0]) confirm(value.index);
      else blocks.push(value.blockId);
    }
  };
  socket.ended = (code) => {
    world.note(`events closed ${code}`);
    if (connections > 1)
      world.simulation.atForWorld(world.simulation.now + AGAIN_MS, () =>
        listen(world, connections - 1),
      );
  };
  socket.open(undefined);
  socket.send(
    encodePacket({
      type: PacketType.Connect,
      level: 4,
      cleanSession: true,
      clientId: '',
      keepAlive: 0,
    }),
  );
}
