/** Listeners that promise to say something now and then: who does stays, and who does not is closed. */
import { encodePacket, type Packet, PacketType } from '../../../src/mqtt/packets.ts';
import { lastIndex } from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import type { Socket } from '../platform/sockets.ts';
import type { World } from '../world.ts';

/** Seconds, or none. */
const PROMISES = [0, 0, 15];

const PING_MS = 10_000;
/** Two intervals without a packet, after which the next milestone is when the broker looks. */
const SILENT_MS = 35_000;
const LOOKED_MS = 25_000;
const LOOKED_MILESTONES = 2;

export interface KeepAlive {
  seconds: number;
  /** Whether the broker may close it. */
  isSilent: boolean;
  begin(): void;
  received(packet: Packet): void;
}

export function newKeepAlive(world: World, socket: Socket, random?: Random): KeepAlive {
  const { simulation } = world;
  const seconds = random?.pick(PROMISES) ?? 0;
  const isSilent = seconds > 0 && random?.chance(0.2) === true;
  const isOpen = () => socket.readyState === 1;
  const isUndisturbed = () => world.mustAnswer && !world.isDisturbed;
  let isWaiting = false;
  const ping = () => {
    if (!isOpen()) return;
    if (isWaiting && isUndisturbed()) world.wrong('liveness', 'a ping is not answered');
    isWaiting = true;
    socket.send(encodePacket({ type: PacketType.PingRequest }));
    simulation.after(PING_MS, ping);
  };
  const isSilentNow = () => {
    const before = lastIndex(world.network);
    simulation.after(LOOKED_MS, () => {
      const hasLooked = lastIndex(world.network) >= before + LOOKED_MILESTONES;
      if (isOpen() && hasLooked && isUndisturbed())
        world.wrong('economy', 'a client that is silent stays');
    });
  };
  return {
    seconds,
    isSilent,
    begin() {
      if (isSilent) simulation.after(SILENT_MS, isSilentNow);
      else if (seconds > 0) simulation.after(PING_MS, ping);
    },
    received({ type }) {
      if (type === PacketType.PingResponse) isWaiting = false;
    },
  };
}
