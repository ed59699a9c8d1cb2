/** What MQTT 3.1.1 promises of a connection, also where the broker is evicted meanwhile. */
import {
  type Connect,
  createPacketReader,
  encodePacket,
  type Packet,
  PacketType,
} from '../../../src/mqtt/packets.ts';
import type { Socket } from '../platform/sockets.ts';
import type { World } from '../world.ts';
import { GREETING } from './crowd.ts';

interface Caller {
  socket: Socket | undefined;
  /** The subprotocol that was chosen. */
  protocol: string | null;
  /** What the broker said first. */
  first: Packet | undefined;
  /** How it was closed; undefined while it is open. */
  code: number | undefined;
}

const HEADERS = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'cf-connecting-ip': '192.0.2.7',
};

/** Place of the flags in a CONNECT. */
const FLAGS = 9;

function call(world: World, own: Partial<Connect>, offered = {}): Caller {
  const caller: Caller = { socket: undefined, protocol: null, first: undefined, code: undefined };
  const accept = (answer: Response) => {
    if (answer.status !== 101) return;
    const { webSocket: socket } = answer as unknown as { webSocket: Socket };
    const reader = createPacketReader(1 << 20);
    socket.received = (data) => {
      for (const packet of reader.read(new Uint8Array(data as ArrayBuffer)))
        caller.first ??= packet;
    };
    socket.ended = (code) => {
      caller.code = code;
    };
    Object.assign(caller, { socket, protocol: answer.headers.get('sec-websocket-protocol') });
    socket.open(undefined);
    const greeting = { ...GREETING, ...own };
    const packet = encodePacket(greeting);
    // which is all that a client of ours says
    if (!greeting.cleanSession) packet[FLAGS] = 0;
    socket.send(packet);
  };
  world.ask('/api/mqtt/v1', accept, { headers: { ...HEADERS, ...offered } });
  return caller;
}

const NAME = 'talker';
const ANSWERED_MS = 1000;
const KEEP_ALIVE_S = 1;

/** Together more than may wait at once (src/modules/events/event-broker.ts). */
const MESSAGES = 5;
const MESSAGE_BYTES = 60_000;

/** Where nobody listens. */
export async function checkSessions(world: World): Promise<void> {
  const { node, simulation } = world;
  const answered = () => simulation.pass(ANSWERED_MS);
  const before = call(
    world,
    { clientId: NAME, cleanSession: false },
    { 'sec-websocket-protocol': 'other, mqtt' },
  );
  const silent = call(world, { keepAlive: KEEP_ALIVE_S });
  const refused = [call(world, { level: 3 }), call(world, { cleanSession: false })];
  await answered();
  const acks = [before, silent, ...refused].map(({ first }) =>
    first?.type === PacketType.ConnectAck ? `${first.returnCode} ${first.sessionPresent}` : 'none',
  );
  const isAnswered = acks.join() === '0 false,0 false,1 false,2 false';
  if (!isAnswered) world.wrong('safety', `clients that connect are told ${acks}`);
  if (before.protocol !== 'mqtt' || silent.protocol !== null)
    world.wrong('safety', `clients are told to speak ${before.protocol}, and ${silent.protocol}`);
  node.events.kill(false);
  const payload = new Uint8Array(MESSAGE_BYTES);
  for (let i = 0; i < MESSAGES; i++) {
    if (before.code === undefined)
      before.socket?.send(encodePacket({ type: PacketType.Publish, topic: 'a', payload }));
    await answered();
  }
  if (before.code !== undefined)
    world.wrong('liveness', `who says much, bit by bit, is closed: ${before.code}`);
  const after = call(world, { clientId: NAME });
  await answered();
  if (before.code === undefined) world.wrong('safety', 'two have one name at one address');
  if (silent.code === undefined) world.wrong('economy', 'who was silent long before stays');
  if (after.code !== undefined) world.wrong('liveness', `a newcomer is closed: ${after.code}`);
  after.socket?.close(1000);
}
