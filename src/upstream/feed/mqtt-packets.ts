/**
 * MQTT 3.1.1 as far as a subscriber with QoS 0 and a clean session speaks it
 * (https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/os/mqtt-v3.1.1-os.html): codecs of eight packet
 * types, and a reader that finds packets in a stream of chunks.
 *
 * Of our own, as a Worker wants a bound that mqtt-packet 9 does not know: it collects whatever
 * length a packet announces, up to 256 MB. It also needs Node's Buffer and events, and makes the
 * Worker larger by 60 %.
 *
 * Refusals name the normative statement of the specification, or its section.
 */
import { concatBytes, equalBytes, Reader, Refusal, Writer } from '../../stardust/encoding/bytes.ts';
import { byteString, type Codec, constant, record, u8 } from '../../stardust/encoding/codec.ts';

/** Connects with a clean session and no will, user or password. */
export interface Connect {
  type: typeof PacketType.Connect;
  clientId: string;
  /** Seconds; after one and a half times as many without a packet the broker may hang up. */
  keepAlive: number;
}

export interface ConnectAck {
  type: typeof PacketType.ConnectAck;
  sessionPresent: boolean;
  /** 0 where the broker accepted. */
  returnCode: number;
}

/** A message with QoS 0. */
export interface Publish {
  type: typeof PacketType.Publish;
  topic: string;
  /** A view of the bytes that were read. */
  payload: Uint8Array;
}

/** Asks for all messages of these topics with QoS 0. */
export interface Subscribe {
  type: typeof PacketType.Subscribe;
  packetId: number;
  topics: string[];
}

export interface SubscribeAck {
  type: typeof PacketType.SubscribeAck;
  packetId: number;
  /** One a topic: the QoS granted, or 128 where it is refused. */
  returnCodes: number[];
}

/** A packet that is nothing but its type. */
export interface BarePacket {
  type:
    | typeof PacketType.PingRequest
    | typeof PacketType.PingResponse
    | typeof PacketType.Disconnect;
}

export type Packet = Connect | ConnectAck | Publish | Subscribe | SubscribeAck | BarePacket;

/** The first byte of each: type, and the only flags that these packets may have. */
export const PacketType = {
  Connect: 0x10,
  ConnectAck: 0x20,
  Publish: 0x30,
  Subscribe: 0x82,
  SubscribeAck: 0x90,
  PingRequest: 0xc0,
  PingResponse: 0xd0,
  Disconnect: 0xe0,
} as const;

/** A message that the broker kept for new subscribers has this flag of its own. */
const RETAIN = 0x01;

/** Most significant byte first, unlike Stardust's. */
const u16: Codec<number> = {
  decode: (r) => r.u8() * 256 + r.u8(),
  encode: (w, v) => w.u8(v >> 8).u8(v & 0xff),
};

const utf8 = byteString('MQTT-1.5.3', u16, 0, 0xffff);

const text: Codec<string> = {
  decode: (r) => {
    const bytes = utf8.decode(r);
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new Refusal('MQTT-1.5.3-1', 'text that is not UTF-8');
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

/** Elements up to the packet's end, one at least. */
function listToEnd<T>(rule: string, element: Codec<T>): Codec<T[]> {
  return {
    decode: (r) => {
      const list: T[] = [];
      while (r.remaining > 0) list.push(element.decode(r));
      if (list.length === 0) throw new Refusal(rule, 'an empty list');
      return list;
    },
    encode: (w, v) => {
      for (const each of v) element.encode(w, each);
    },
  };
}

/** `MQTT` and its level, and the flags of a clean session without will, user and password. */
const PROTOCOL = Uint8Array.of(0x00, 0x04, 0x4d, 0x51, 0x54, 0x54, 0x04, 0x02);

const connect: Codec<Omit<Connect, 'type'>> = {
  decode: (r) => {
    if (!equalBytes(r.take(PROTOCOL.length), PROTOCOL))
      throw new Refusal('MQTT-3.1.2', 'another protocol or other flags');
    return { keepAlive: u16.decode(r), clientId: text.decode(r) };
  },
  encode: (w, { keepAlive, clientId }) => {
    w.put(PROTOCOL);
    u16.encode(w, keepAlive);
    text.encode(w, clientId);
  },
};

const flag: Codec<boolean> = {
  decode: (r) => {
    const byte = r.u8();
    if (byte > 1) throw new Refusal('MQTT-3.2.2', `acknowledge flags ${byte}`);
    return byte === 1;
  },
  encode: (w, v) => w.u8(v ? 1 : 0),
};

const bodies = {
  [PacketType.Connect]: connect,
  [PacketType.ConnectAck]: record<Omit<ConnectAck, 'type'>>({
    sessionPresent: flag,
    returnCode: u8,
  }),
  [PacketType.Publish]: record<Omit<Publish, 'type'>>({ topic: text, payload: rest }),
  [PacketType.Subscribe]: record<Omit<Subscribe, 'type'>>({
    packetId: u16,
    topics: listToEnd('MQTT-3.8.3-3', {
      decode: (r) => {
        const topic = text.decode(r);
        constant('MQTT-3.8.3-4', u8, 0).decode(r);
        return topic;
      },
      encode: (w, v) => {
        text.encode(w, v);
        w.u8(0);
      },
    }),
  }),
  [PacketType.SubscribeAck]: record<Omit<SubscribeAck, 'type'>>({
    packetId: u16,
    returnCodes: listToEnd('MQTT-3.9.3', u8),
  }),
  [PacketType.PingRequest]: record({}),
  [PacketType.PingResponse]: record({}),
  [PacketType.Disconnect]: record({}),
} satisfies Record<Packet['type'], unknown>;

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

/** What a packet begins with. Lengths are in bytes, that of the packet includes its header. */
interface Header {
  type: Packet['type'];
  headerLength: number;
  length: number;
}

/** A message may be one that the broker kept; all other flags are as PacketType has them. */
function readType(first: number): Packet['type'] {
  const type = (first & ~RETAIN) === PacketType.Publish ? PacketType.Publish : first;
  if (!(type in bodies)) throw new Refusal('MQTT-2.2.2-2', `first byte 0x${type.toString(16)}`);
  return type as Packet['type'];
}

/** Undefined while bytes of it are missing. Throws a Refusal as soon as it is none. */
function readHeader(bytes: Uint8Array): Header | undefined {
  if (bytes.length === 0) return undefined;
  const type = readType(bytes[0]!);
  let length = 0;
  for (let i = 1; i < bytes.length; i++) {
    length += (bytes[i]! & 0x7f) * 128 ** (i - 1);
    if (bytes[i]! < 0x80) {
      const headerLength = i + 1;
      return { type, headerLength, length: headerLength + length };
    }
    if (i === MAX_LENGTH_BYTES) throw new Refusal('MQTT-2.2.3', 'a length of more than four bytes');
  }
  return undefined;
}

function decodePacket(bytes: Uint8Array, { type, headerLength }: Header): Packet {
  const body = bodies[type] as Codec<Packet>;
  const reader = new Reader(bytes.subarray(headerLength));
  const packet = body.decode(reader);
  if (reader.remaining > 0) throw new Refusal('MQTT-2.2.3', `${reader.remaining} bytes too many`);
  return { ...packet, type } as Packet;
}

/**
 * Finds packets in a stream that may be cut anywhere: MQTT does not care about the borders of
 * WebSocket messages (MQTT-6.0.0-4).
 *
 * @param maxLength bytes of the longest packet, its header included: what announces more is refused
 *   before it has come
 * @returns takes the next chunk, gives the packets that end in it. Throws a Refusal when the stream
 *   breaks the protocol; it cannot be read on then.
 */
export function createPacketReader(maxLength: number): (chunk: Uint8Array) => Packet[] {
  /** The beginning of a packet that is not whole yet. */
  const held = new Uint8Array(maxLength);
  let heldLength = 0;

  function headerOf(bytes: Uint8Array): Header | undefined {
    const header = readHeader(bytes);
    if (header !== undefined && header.length > maxLength)
      throw new Refusal('MQTT-2.2.3', `a packet of ${header.length} bytes`);
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
    held.set(taken, heldLength);
    heldLength += taken.length;
    return bytes.subarray(taken.length);
  }

  return (chunk) => {
    const packets: Packet[] = [];
    let left = chunk;
    while (left.length > 0) {
      const whole = heldLength === 0 ? readWhole(left) : undefined;
      if (whole !== undefined) {
        packets.push(whole.packet);
        left = whole.left;
        continue;
      }
      left = hold(left);
      const header = heldHeader();
      if (header?.length !== heldLength) continue;
      packets.push(decodePacket(held.slice(0, heldLength), header));
      heldLength = 0;
    }
    return packets;
  };
}
