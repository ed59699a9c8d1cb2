/**
 * State machine of the connection to a feed: steps are told to it with their times in Unix
 * milliseconds, and keep-feed.ts does what it wants done. Over it runs one MQTT session, which
 * connects, subscribes, keeps alive and yields messages.
 */
import type { FeedState } from '../../follower/follower-part.ts';
import {
  createPacketReader,
  encodePacket,
  type Packet,
  type PacketReader,
  PacketType,
  PROTOCOL_LEVEL,
} from '../../mqtt/packets.ts';
import { hasPassed } from '../../platform/clock.ts';
import { caughtRefusal } from '../../stardust/error.ts';
import { MAX_BLOCK_LENGTH } from '../../stardust/wire/block.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';

/** Milliseconds before the first try after a failure; it doubles with each up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** Milliseconds that a session must have lasted for pauses to be short again. */
const LASTING_MS = 60_000;

/** Milliseconds to find an upstream that has a feed and to open the connection. */
const OPENING_TIMEOUT_MS = 30_000;

/**
 * Milliseconds without a message after which the feed counts as silent, though it answers pings. On
 * an idle network with a milestone each ten seconds that is wrong, and costs a look.
 */
const SILENT_AFTER_MS = 9000;

/** Milliseconds without a message after which another connection is tried. */
const GIVEN_UP_AFTER_MS = 60_000;

export interface ConnectionStep extends SessionStep {
  /** Open one, closing what was there. */
  open?: true;
  /** Close it, for this reason. */
  close?: string;
}

type Phase =
  | { name: 'pausing'; since: number; pause: number }
  | { name: 'opening'; since: number }
  | { name: 'open'; session: Session; since: number; heard?: number };

export function createFeedConnection(clientId: string, topics: readonly string[]) {
  let phase: Phase = { name: 'pausing', since: Number.NEGATIVE_INFINITY, pause: 0 };
  let pause = FIRST_PAUSE_MS;

  function end(now: number): void {
    if (phase.name === 'pausing') return;
    const begun = phase.name === 'open' ? phase.session.subscribed : undefined;
    if (begun !== undefined && hasPassed(LASTING_MS, begun, now)) pause = FIRST_PAUSE_MS;
    phase = { name: 'pausing', since: now, pause };
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }

  /** Does the session's step; a failure ends the connection. */
  function guard(now: number, act: () => SessionStep): ConnectionStep {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      end(now);
      return { ...nothing(), close: error.message };
    }
  }

  return {
    /** Called about once a second. */
    tick(now: number): ConnectionStep {
      switch (phase.name) {
        case 'pausing':
          if (!hasPassed(phase.pause, phase.since, now)) return nothing();
          phase = { name: 'opening', since: now };
          return { ...nothing(), open: true };
        case 'opening':
          if (!hasPassed(OPENING_TIMEOUT_MS, phase.since, now)) return nothing();
          end(now);
          return { ...nothing(), close: 'not opened in time' };
        case 'open': {
          const { session, since } = phase;
          if (hasPassed(GIVEN_UP_AFTER_MS, phase.heard ?? since, now)) {
            end(now);
            return { ...nothing(), close: `no message for ${GIVEN_UP_AFTER_MS} milliseconds` };
          }
          return guard(now, () => session.tick(now));
        }
      }
    },
    opened(now: number): ConnectionStep {
      if (phase.name !== 'opening') throw new Error(`a connection opened while ${phase.name}`);
      const session = createSession(clientId, topics);
      phase = { name: 'open', session, since: now };
      return session.begin(now);
    },
    received(bytes: Uint8Array, now: number): ConnectionStep {
      if (phase.name !== 'open') {
        end(now);
        return { ...nothing(), close: 'bytes before a word was said' };
      }
      const { session } = phase;
      const step = guard(now, () => session.receive(bytes, now));
      if (step.messages.length > 0 && phase.name === 'open') phase.heard = now;
      return step;
    },
    /** Notes that it could not be opened, or that the other side closed it. */
    lost: end,
    state(now: number): FeedState {
      if (phase.name !== 'open' || phase.session.subscribed === undefined) return 'down';
      const { heard: last } = phase;
      return last === undefined || hasPassed(SILENT_AFTER_MS, last, now) ? 'silent' : 'live';
    },
  };
}

const nothing = (): SessionStep => ({ send: [], messages: [] });

/** Bytes of the longest packet: a block or a milestone, its topic, the header. */
const MAX_PACKET_BYTES = MAX_BLOCK_LENGTH + 256;

/** Bytes of a WebSocket message: a packet of two bytes takes 120 of heap. */
const MAX_MESSAGE_BYTES = 1 << 18;

/** Milliseconds from one ping to the next, and what the broker is told, in seconds. */
const PING_INTERVAL_MS = 3000;
const KEEP_ALIVE_SECONDS = 10;

/** Milliseconds for connection and subscription, and between packets later: pings are answered. */
const PATIENCE_MS = 8000;

/** Packets in a row, and a millisecond from then on: HORNET takes 1,700 small blocks a second. */
const MOST_PACKETS = 10_000;
const PACKETS_PER_MS = 2.4;
/** WebSocket messages, or bytes, that take as long as a packet: aedes sends five of the former. */
const MESSAGES_OF_PACKET = 8;
const BYTES_OF_PACKET = 1024;

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

type Session = ReturnType<typeof createSession>;

/**
 * Creates a session, whose functions all throw an UpstreamFailure when it is over. Times are Unix
 * milliseconds.
 *
 * @param clientId at most 23 letters and digits; a broker ends the older of two equal sessions
 * @param topics all messages of these are requested, with QoS 0
 */
function createSession(clientId: string, topics: readonly string[]) {
  const reader = createPacketReader(MAX_PACKET_BYTES);
  let begun = 0;
  let heard = 0;
  let pinged = 0;
  let connected = false;
  let subscribed: number | undefined;
  let packetsLeft = MOST_PACKETS;

  function count(packets: number): void {
    packetsLeft -= packets;
    if (packetsLeft < 0) throw new UpstreamFailure('MQTT: too many packets');
  }

  function take(packet: Packet, step: SessionStep, now: number): void {
    count(1);
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
        if (!topics.includes(packet.topic))
          throw new UpstreamFailure('MQTT: a message of a topic that was not requested');
        step.messages.push({ topic: packet.topic, payload: packet.payload });
        return;
      case PacketType.PingResponse:
        return;
      default:
        throw new UpstreamFailure(`MQTT: packet type ${packet.type >> 4} from a broker`);
    }
  }

  return {
    /** The connection was opened: what to send first. */
    begin(now: number): SessionStep {
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
    receive(bytes: Uint8Array, now: number): SessionStep {
      if (bytes.length > MAX_MESSAGE_BYTES)
        throw new UpstreamFailure(`MQTT: a WebSocket message of ${bytes.length} bytes`);
      packetsLeft = Math.min(packetsLeft + PACKETS_PER_MS * Math.max(now - heard, 0), MOST_PACKETS);
      heard = now;
      count(1 / MESSAGES_OF_PACKET + bytes.length / BYTES_OF_PACKET);
      const step = nothing();
      for (const packet of readPackets(reader, bytes)) take(packet, step, now);
      return step;
    },
    /** Called about once a second. */
    tick(now: number): SessionStep {
      if (hasPassed(PATIENCE_MS, heard, now))
        throw new UpstreamFailure(`MQTT: nothing for ${PATIENCE_MS} milliseconds`);
      if (subscribed === undefined && hasPassed(PATIENCE_MS, begun, now))
        throw new UpstreamFailure('MQTT: not subscribed in time');
      if (subscribed === undefined || !hasPassed(PING_INTERVAL_MS, pinged, now)) return nothing();
      pinged = now;
      return { send: [encodePacket({ type: PacketType.PingRequest })], messages: [] };
    },
    /** When the broker granted the subscriptions; undefined before. */
    get subscribed() {
      return subscribed;
    },
  };
}

function* readPackets(reader: PacketReader, bytes: Uint8Array): Generator<Packet, void> {
  try {
    yield* reader.read(bytes);
  } catch (error) {
    throw new UpstreamFailure(`MQTT: ${caughtRefusal(error).reason}`);
  }
}
