/**
 * Honest subscribers of events, each with an address of its own: they ping, and connect again when
 * they were cut off, as libraries do.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PacketType } from '../../../src/mqtt/packets.ts';
import { openRaw } from './raw-client.ts';

const SUBSCRIBERS = 20;
const PING_MS = 1000;

/** As @iota/mqtt.js: a second between two tries. */
const PAUSE_MS = 1000;

export interface Subscribers {
  /** Since the last reset: refused with 503; and cut off or not answered, by how it was. */
  counts(): { refused: number; lost: Record<string, number> };
  reset(): void;
  stop(): void;
}

export function keepSubscribers(url: string): Subscribers {
  let isOver = false;
  let counts: ReturnType<Subscribers['counts']> = { refused: 0, lost: {} };

  function lose(how: string): void {
    if (!isOver) counts.lost[how] = (counts.lost[how] ?? 0) + 1;
  }

  async function subscribe(address: string): Promise<void> {
    const { socket, sendPacket } = await openRaw(url, address);
    let heardAt = Date.now();
    socket.on('data', () => {
      heardAt = Date.now();
    });
    sendPacket({ type: PacketType.Subscribe, packetId: 1, topics: ['milestone-info/confirmed'] });
    while (!isOver && !socket.destroyed && Date.now() - heardAt < 10_000) {
      sendPacket({ type: PacketType.PingRequest });
      await sleep(PING_MS);
    }
    lose(socket.destroyed ? 'closed' : 'heard nothing');
    socket.destroy();
  }

  const keep = async (address: string): Promise<void> => {
    while (!isOver) {
      await subscribe(address).catch(({ message }) => {
        if (message.includes(' 503')) counts.refused++;
        else lose(`did not connect: ${message}`);
      });
      await sleep(PAUSE_MS);
    }
  };
  for (let i = 0; i < SUBSCRIBERS; i++) void keep(`127.0.5.${i + 1}`);
  return {
    counts: () => counts,
    reset() {
      counts = { refused: 0, lost: {} };
    },
    stop() {
      isOver = true;
    },
  };
}
