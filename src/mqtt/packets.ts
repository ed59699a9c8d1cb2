/**
 * MQTT 3.1.1 (https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/os/mqtt-v3.1.1-os.html): codecs of
 * packets, and a reader that finds packets in a stream of chunks, for feeds (src/modules/feed/)
 * and the broker (src/modules/events/). All sent messages have QoS 0. Refusals name the normative
 * statement, or the section.
 *
 * mqtt-packet 9 is not used: it collects whatever length a packet announces, up to 256 MB, needs
 * Node's Buffer and events, and makes the Worker 60 % larger.
 */
import { concatBytes, Reader, Writer } from '../stardust/encoding/bytes.ts';
import { byteString, type Codec, type Prefix, record, u8 } from '../stardust/encoding/codec.ts';
import { refusal } from '../stardust/error.ts';

/** Written with a clean session and no will, user or password; those are read and dropped. */
export interface Connect {
  type: typeof PacketType.Connect;
  /** Protocol level: 4 for MQTT 3.1.1. Nothing else is read of other levels. */
  level: number;
  cleanSession: boolean;
  clientId: string;
  /** Seconds, 0 for none; after 1.5 times as long without a packet the broker may hang up. */
  keepAlive: number;
}

export interface ConnectAck {
  type: typeof PacketType.ConnectAck;
  sessionPresent: boolean;
  /** 0 where the broker accepted. */
  returnCode: number;
}

export interface Publish {
  type: typeof PacketType.Publish;
  topic: string;
  /** A view of the bytes that were read. */
  payload: Uint8Array;
  /** Absent with QoS 0. */
  acknowledge?: { qos: number; packetId: number };
}

/** Requests all messages of these topic filters. QoS 0 is written; others are read and dropped. */
export interface Subscribe {
  type: typeof PacketType.Subscribe;
  packetId: number;
  topics: string[];
}

export interface SubscribeAck {
  type: typeof PacketType.SubscribeAck;
  packetId: number;
  /** Return code of each topic: the QoS granted, or 128 if it is refused. */
  returnCodes: number[];
}

interface Unsubscribe extends Omit<Subscribe, 'type'> {
  type: typeof PacketType.Unsubscribe;
}

/** Acknowledges the packet with this ID. */
export interface Acknowledgement {
  type:
    | typeof PacketType.PublishAck
    | typeof PacketType.PublishReceived
    | typeof PacketType.PublishRelease
    | typeof PacketType.PublishComplete
    | typeof PacketType.UnsubscribeAck;
  packetId: number;
}

/** A packet that is nothing but its type. */
export interface BarePacket {
  type:
    | typeof PacketType.PingRequest
    | typeof PacketType.PingResponse
    | typeof PacketType.Disconnect;
}

export type Packet =
  | Connect
  | ConnectAck
  | Publish
  | Subscribe
  | SubscribeAck
  | Unsubscribe
  | Acknowledgement
  | BarePacket;

/** First byte of each packet: type, and the only flags that it may have (2.2.2). */
export const PacketType = {
  Connect: 0x10,
  ConnectAck: 0x20,
  Publish: 0x30,
  PublishAck: 0x40,
  PublishReceived: 0x50,
  PublishRelease: 0x62,
  PublishComplete: 0x70,
  Subscribe: 0x82,
  SubscribeAck: 0x90,
  Unsubscribe: 0xa2,
  UnsubscribeAck: 0xb0,
  PingRequest: 0xc0,
  PingResponse: 0xd0,
  Disconnect: 0xe0,
} as const;

/** The level of MQTT 3.1.1 (3.1.2.2). */
export const PROTOCOL_LEVEL = 4;

/** Most significant byte first, unlike Stardust's. */
const u16: Prefix = {
  decode: (r) => r.u8() * 256 + r.u8(),
  encode: (w, v) => w.u8(v >> 8).u8(v & 0xff),
  max: 0xffff,
};

const utf8 = byteString('MQTT-1.5.3', u16, 0, 0xffff);

/** Shared: to make a decoder takes longer than to decode a topic. */
const textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const text: Codec<string> = {
  decode: (r) => {
    const bytes = utf8.decode(r);
    try {
      return textDecoder.decode(bytes);
    } catch {
      throw refusal('MQTT-1.5.3-1', 'text that is not UTF-8');
    }
  },
  encode: (w, v) => {
    const bytes = new TextEncoder().encode(v);
    if (bytes.length > 0xffff) throw new RangeError(`MQTT text of ${bytes.length} bytes`);
    utf8.encode(w, bytes);
  },
};

/** All that is left of the packet. */
const rest: Codec<Uint8Array> = {
  decode: (r) => r.take(r.remaining),
  encode: (w, v) => w.put(v),
};

/** Topics of one packet, and of a client of the broker. */
export const MAX_TOPICS = 400;

/** Elements up to the packet's end, one at least. */
function listToEnd<T>(rule: string, element: Codec<T>): Codec<T[]> {
  return {
    decode: (r) => {
      const list: T[] = [];
      while (r.remaining > 0) {
        if (list.length === MAX_TOPICS) throw refusal(rule, `more than ${MAX_TOPICS} topics`);
        list.push(element.decode(r));
      }
      if (list.length === 0) throw refusal(rule, 'an empty list');
      return list;
    },
    encode: (w, v) => {
      for (const each of v) element.encode(w, each);
    },
  };
}

/** Bits of the connect flags (3.1.2.3 to 3.1.2.9). */
const ConnectFlag = {
  Reserved: 0x01,
  CleanSession: 0x02,
  Will: 0x04,
  WillQosAndRetain: 0x38,
  Password: 0x40,
  User: 0x80,
};

const connect: Codec<Omit<Connect, 'type'>> = {
  decode: (r) => {
    const name = text.decode(r);
    const level = r.u8();
    // MQTT 3.1 has another name; what follows is not read, as another level may have other fields
    if (name !== 'MQTT' && name !== 'MQIsdp') throw refusal('MQTT-3.1.2-1', 'another protocol');
    if (level !== PROTOCOL_LEVEL) {
      r.take(r.remaining);
      return { level, cleanSession: true, keepAlive: 0, clientId: '' };
    }
    const flags = r.u8();
    const has = (flag: number) => (flags & flag) !== 0;
    if (has(ConnectFlag.Reserved)) throw refusal('MQTT-3.1.2-3', 'the reserved flag');
    if (!has(ConnectFlag.Will) && has(ConnectFlag.WillQosAndRetain))
      throw refusal('MQTT-3.1.2-11', 'flags of a will without a will');
    if (has(ConnectFlag.Password) && !has(ConnectFlag.User))
      throw refusal('MQTT-3.1.2-22', 'a password without a user');
    const keepAlive = u16.decode(r);
    const clientId = text.decode(r);
    if (has(ConnectFlag.Will)) {
      utf8.decode(r);
      utf8.decode(r);
    }
    if (has(ConnectFlag.User)) utf8.decode(r);
    if (has(ConnectFlag.Password)) utf8.decode(r);
    return { level, cleanSession: has(ConnectFlag.CleanSession), keepAlive, clientId };
  },
  encode: (w, { level, keepAlive, clientId }) => {
    text.encode(w, 'MQTT');
    w.u8(level).u8(ConnectFlag.CleanSession);
    u16.encode(w, keepAlive);
    text.encode(w, clientId);
  },
};

const flag: Codec<boolean> = {
  decode: (r) => {
    const byte = r.u8();
    if (byte > 1) throw refusal('MQTT-3.2.2', `acknowledge flags ${byte}`);
    return byte === 1;
  },
  encode: (w, v) => w.u8(v ? 1 : 0),
};

const requestedTopic: Codec<string> = {
  decode: (r) => {
    const topic = text.decode(r);
    const qos = r.u8();
    if (qos > 2) throw refusal('MQTT-3.8.3-4', `QoS ${qos}`);
    return topic;
  },
  encode: (w, v) => {
    text.encode(w, v);
    w.u8(0);
  },
};

const acknowledgement = record<Omit<Acknowledgement, 'type'>>({ packetId: u16 });
const bare = record({});

const bodies = {
  [PacketType.Connect]: connect,
  [PacketType.ConnectAck]: record<Omit<ConnectAck, 'type'>>({
    sessionPresent: flag,
    returnCode: u8,
  }),
  [PacketType.Publish]: record<Omit<Publish, 'type' | 'acknowledge'>>({
    topic: text,
    payload: rest,
  }),
  [PacketType.PublishAck]: acknowledgement,
  [PacketType.PublishReceived]: acknowledgement,
  [PacketType.PublishRelease]: acknowledgement,
  [PacketType.PublishComplete]: acknowledgement,
  [PacketType.Subscribe]: record<Omit<Subscribe, 'type'>>({
    packetId: u16,
    topics: listToEnd('MQTT-3.8.3-3', requestedTopic),
  }),
  [PacketType.SubscribeAck]: record<Omit<SubscribeAck, 'type'>>({
    packetId: u16,
    returnCodes: listToEnd('MQTT-3.9.3', u8),
  }),
  [PacketType.Unsubscribe]: record<Omit<Unsubscribe, 'type'>>({
    packetId: u16,
    topics: listToEnd('MQTT-3.10.3-2', text),
  }),
  [PacketType.UnsubscribeAck]: acknowledgement,
  [PacketType.PingRequest]: bare,
  [PacketType.PingResponse]: bare,
  [PacketType.Disconnect]: bare,
} satisfies Record<Packet['type'], unknown>;

/** A message with QoS 1 or 2 has a packet ID behind its topic (3.3.2.2). */
function decodePublish(r: Reader, qos: number): Omit<Publish, 'type'> {
  if (qos === 0) return bodies[PacketType.Publish].decode(r);
  if (qos > 2) throw refusal('MQTT-3.3.1-4', 'a message with QoS 3');
  const topic = text.decode(r);
  const acknowledge = { qos, packetId: u16.decode(r) };
  return { topic, acknowledge, payload: rest.decode(r) };
}

/** Seven bits a byte, least significant first; at most four bytes (2.2.3). */
const MAX_LENGTH_BYTES = 4;

export function encodePacket(packet: Packet): Uint8Array<ArrayBuffer> {
  const body = new Writer();
  (bodies[packet.type] as Codec<Packet>).encode(body, packet);
  const header = new Writer().u8(packet.type);
  let left = body.length;
  do {
    header.u8((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    left >>>= 7;
  } while (left > 0);
  return concatBytes(header.finish(), body.finish());
}

/** Beginning of a packet. Lengths are in bytes, that of the packet includes its header. */
interface Header {
  type: Packet['type'];
  /** QoS of a message; else 0. */
  qos: number;
  headerLength: number;
  length: number;
}

/** Flags of a message: DUP, QoS and RETAIN (3.3.1); all others have those of PacketType. */
function readType(first: number): Pick<Header, 'type' | 'qos'> {
  if ((first & 0xf0) === PacketType.Publish)
    return { type: PacketType.Publish, qos: (first >> 1) & 3 };
  if (!(first in bodies)) throw refusal('MQTT-2.2.2-2', `first byte 0x${first.toString(16)}`);
  return { type: first as Packet['type'], qos: 0 };
}

/** Reads a header; undefined while bytes are missing. Throws a StardustError if it is none. */
function readHeader(bytes: Uint8Array): Header | undefined {
  if (bytes.length === 0) return undefined;
  const type = readType(bytes[0]!);
  let length = 0;
  for (let i = 1; i < bytes.length; i++) {
    length += (bytes[i]! & 0x7f) * 128 ** (i - 1);
    if (bytes[i]! < 0x80) {
      const headerLength = i + 1;
      return { ...type, headerLength, length: headerLength + length };
    }
    if (i === MAX_LENGTH_BYTES) throw refusal('MQTT-2.2.3', 'a length of more than four bytes');
  }
  return undefined;
}

function decodePacket(bytes: Uint8Array, { type, qos, headerLength }: Header): Packet {
  const reader = new Reader(bytes.subarray(headerLength));
  const packet =
    type === PacketType.Publish
      ? decodePublish(reader, qos)
      : (bodies[type] as Codec<Packet>).decode(reader);
  if (reader.remaining > 0) throw refusal('MQTT-2.2.3', `${reader.remaining} bytes too many`);
  return { ...packet, type } as Packet;
}

export interface PacketReader {
  /**
   * Yields the packets that end in the next chunk; all must be taken before the next chunk. Throws
   * a StardustError if the stream breaks the protocol; it cannot be read on then.
   */
  read(chunk: Uint8Array): Generator<Packet, void>;
  /** Bytes of the buffer of a packet that is not whole yet. */
  readonly heldLength: number;
}

/** Bytes of the buffer for a packet whose header is not whole yet. */
const FIRST_HELD_BYTES = 16;

/**
 * Creates a reader of a stream that may be cut anywhere (MQTT-6.0.0-4). The buffer grows with what
 * has come, not with what a packet announces.
 *
 * @param maxLength bytes of the longest packet with its header; a longer one is refused unread
 */
export function createPacketReader(maxLength: number): PacketReader {
  /** The beginning of a packet that is not whole yet. */
  let held = new Uint8Array(0);
  let heldLength = 0;

  function headerOf(bytes: Uint8Array): Header | undefined {
    const header = readHeader(bytes);
    if (header !== undefined && header.length > maxLength)
      throw refusal('MQTT-2.2.3', `a packet of ${header.length} bytes`);
    return header;
  }

  const heldHeader = () => headerOf(held.subarray(0, heldLength));

  /** The first packet of the bytes, where it is whole, and what follows it. */
  function readWhole(bytes: Uint8Array): { packet: Packet; left: Uint8Array } | undefined {
    const header = headerOf(bytes);
    if (header === undefined || header.length > bytes.length) return undefined;
    const packet = decodePacket(bytes.subarray(0, header.length), header);
    return { packet, left: bytes.subarray(header.length) };
  }

  /** Takes what the held packet lacks; without its header, one byte. Returns what is left over. */
  function hold(bytes: Uint8Array): Uint8Array {
    const header = heldHeader();
    const missing = header === undefined ? 1 : header.length - heldLength;
    const taken = bytes.subarray(0, missing);
    const length = heldLength + taken.length;
    if (length > held.length) {
      const grown = new Uint8Array(Math.max(FIRST_HELD_BYTES, 2 * held.length, length));
      grown.set(held.subarray(0, heldLength));
      held = grown;
    }
    held.set(taken, heldLength);
    heldLength = length;
    return bytes.subarray(taken.length);
  }

  return {
    *read(chunk) {
      let left = chunk;
      while (left.length > 0) {
        const whole = heldLength === 0 ? readWhole(left) : undefined;
        if (whole !== undefined) {
          left = whole.left;
          yield whole.packet;
          continue;
        }
        left = hold(left);
        const header = heldHeader();
        if (header?.length !== heldLength) continue;
        const packet = decodePacket(held.subarray(0, heldLength), header);
        // views of the buffer are in the packet
        held = new Uint8Array(0);
        heldLength = 0;
        yield packet;
      }
    },
    get heldLength() {
      return held.length;
    },
  };
}
