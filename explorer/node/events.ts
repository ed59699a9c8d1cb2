/**
 * The node's events (docs/contract.md#events), of which the page wants one: that a milestone was
 * applied.
 */
import * as v from 'valibot';
import {
  createPacketReader,
  encodePacket,
  type Packet,
  PacketType,
  PROTOCOL_LEVEL,
} from '../../src/mqtt/packets.ts';
import { askJson } from './ask.ts';

const CONFIRMED = 'milestone-info/confirmed';

/** Bytes of a message about a milestone: some 150. */
const MAX_PACKET_BYTES = 1000;

const Routes = v.object({ routes: v.array(v.string()) });

/** A failed connection would be an error in the browser's console. */
export async function hasEvents(): Promise<boolean> {
  return (await askJson('/api/routes', Routes)).routes.includes('mqtt/v1');
}

/**
 * Connects, and calls `onMilestone` for the last milestone and for each that is applied from then
 * on. Calls `onEnd` once the connection is lost, or could not be made. Returns a function that
 * closes it.
 */
export function listenForMilestones(onMilestone: () => void, onEnd: () => void): () => void {
  const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/api/mqtt/v1`, 'mqtt');
  socket.binaryType = 'arraybuffer';
  const reader = createPacketReader(MAX_PACKET_BYTES);
  const send = (packet: Packet) => socket.send(encodePacket(packet));
  socket.onopen = () =>
    send({
      type: PacketType.Connect,
      level: PROTOCOL_LEVEL,
      cleanSession: true,
      clientId: '',
      // milestones keep the connection alive
      keepAlive: 0,
    });
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
    try {
      for (const { type } of reader.read(new Uint8Array(data))) {
        if (type === PacketType.ConnectAck)
          send({ type: PacketType.Subscribe, packetId: 1, topics: [CONFIRMED] });
        if (type === PacketType.Publish) onMilestone();
      }
    } catch {
      // not MQTT: the page goes on by reading at intervals
      socket.close();
    }
  };
  socket.onclose = onEnd;
  return () => {
    socket.onclose = null;
    socket.close();
  };
}
