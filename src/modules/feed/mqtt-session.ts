/**
 * One MQTT session over one connection: it connects, subscribes, keeps alive and yields messages.
 * It depends on nothing but the bytes and times that it is given.
 */
import {
  createPacketReader,
  encodePacket,
  type Packet,
  type PacketReader,
  PacketType,
  PROTOCOL_LEVEL,
} from '../../mqtt/packets.ts';
import { hasPassed } from '../../platform/clock.ts';
import { StardustError } from '../../stardust/error.ts';
import { MAX_BLOCK_LENGTH } from '../../stardust/wire/block.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';

/** Bytes of the longest packet: a block or a milestone, its topic, the header. */
const MAX_PACKET_BYTES = MAX_BLOCK_LENGTH + 256;

/** Milliseconds from one ping to the next, and what the broker is told, in seconds. */
const PING_INTERVAL_MS = 3000;
const KEEP_ALIVE_SECONDS = 10;

/** Milliseconds for connection and subscription, and between packets later: pings are answered. */
const PATIENCE_MS = 8000;

const PACKET_ID = 1;

export interface Message {
  topic: string;
  payload: Uint8Array;
}

/** Bytes to send, and messages received. */
export interface SessionStep {
  send: Uint8Array<ArrayBuffer>[];
  messages: Message[];
}

/** All throw an UpstreamFailure when the session is over. Times are Unix milliseconds. */
export interface Session {
  /** The connection was opened: what to send first. */
  begin(now: number): SessionStep;
  receive(bytes: Uint8Array, now: number): SessionStep;
  /** Called about once a second. */
  tick(now: number): SessionStep;
  /** When the broker granted the subscriptions; undefined before. */
  readonly subscribed: number | undefined;
}

/**
 * @param clientId at most 23 letters and digits; a broker ends the older of two equal sessions
 * @param topics all messages of these are requested, with QoS 0
 */
export function createSession(clientId: string, topics: readonly string[]): Session {
  const reader = createPacketReader(MAX_PACKET_BYTES);
  let begun = 0;
  let heard = 0;
  let pinged = 0;
  let connected = false;
  let subscribed: number | undefined;

  function take(packet: Packet, step: SessionStep, now: number): void {
    switch (packet.type) {
      case PacketType.ConnectAck:
        if (connected) throw new UpstreamFailure('MQTT: connected twice');
        if (packet.returnCode !== 0)
          throw new UpstreamFailure(`MQTT: connection refused with ${packet.returnCode}`);
        connected = true;
        step.send.push(
          encodePacket({ type: PacketType.Subscribe, packetId: PACKET_ID, topics: [...topics] }),
        );
        return;
      case PacketType.SubscribeAck:
        if (
          !connected ||
          packet.packetId !== PACKET_ID ||
          packet.returnCodes.length !== topics.length
        )
          throw new UpstreamFailure('MQTT: an acknowledgement of another subscription');
        if (packet.returnCodes.some((code) => code !== 0))
          throw new UpstreamFailure(`MQTT: subscribed with ${packet.returnCodes.join(', ')}`);
        subscribed ??= now;
        return;
      case PacketType.Publish:
        if (!connected) throw new UpstreamFailure('MQTT: a message before the connection');
        if (packet.acknowledge !== undefined)
          throw new UpstreamFailure('MQTT: a message with another QoS than was granted');
        step.messages.push({ topic: packet.topic, payload: packet.payload });
        return;
      case PacketType.PingResponse:
        return;
      default:
        throw new UpstreamFailure(`MQTT: packet type ${packet.type >> 4} from a broker`);
    }
  }

  return {
    begin(now) {
      begun = heard = pinged = now;
      const packet = encodePacket({
        type: PacketType.Connect,
        level: PROTOCOL_LEVEL,
        cleanSession: true,
        clientId,
        keepAlive: KEEP_ALIVE_SECONDS,
      });
      return { send: [packet], messages: [] };
    },
    receive(bytes, now) {
      heard = now;
      const step: SessionStep = { send: [], messages: [] };
      for (const packet of readPackets(reader, bytes)) take(packet, step, now);
      return step;
    },
    tick(now) {
      if (hasPassed(PATIENCE_MS, heard, now))
        throw new UpstreamFailure(`MQTT: nothing for ${PATIENCE_MS} milliseconds`);
      if (subscribed === undefined && hasPassed(PATIENCE_MS, begun, now))
        throw new UpstreamFailure('MQTT: not subscribed in time');
      if (subscribed === undefined || !hasPassed(PING_INTERVAL_MS, pinged, now))
        return { send: [], messages: [] };
      pinged = now;
      return { send: [encodePacket({ type: PacketType.PingRequest })], messages: [] };
    },
    get subscribed() {
      return subscribed;
    },
  };
}

function readPackets(reader: PacketReader, bytes: Uint8Array): Packet[] {
  try {
    return [...reader.read(bytes)];
  } catch (error) {
    if (error instanceof StardustError) throw new UpstreamFailure(`MQTT: ${error.reason}`);
    throw error;
  }
}
