/**
 * A WebSocket to the broker of events over a bare TCP connection, which says any bytes at any time
 * and may stop to read: what clients of libraries never do.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { encodePacket, type Packet, PacketType } from '../../../src/mqtt/packets.ts';

const UPGRADE = [
  'Host: a',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==',
];

export const upgradeTo = (path: string, ...headers: string[]) =>
  `GET ${path} HTTP/1.1\r\n${[...UPGRADE, ...headers].join('\r\n')}\r\n\r\n`;

/**
 * A frame of a client, masked with zeros (RFC 6455, 5.2).
 *
 * @param first its first byte; default: that of a whole binary message
 */
export function frame(payload: string | Uint8Array, first = 0x82): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const { length } = bytes;
  const size = Buffer.alloc(length < 126 ? 0 : length < 2 ** 16 ? 2 : 8);
  if (size.length === 2) size.writeUInt16BE(length);
  if (size.length === 8) size.writeBigUInt64BE(BigInt(length));
  const code = { 0: length, 2: 126, 8: 127 }[size.length]!;
  return Buffer.concat([Buffer.of(first, 0x80 | code), size, Buffer.alloc(4), bytes]);
}

export interface RawClient {
  readonly socket: Socket;
  /** Sends one WebSocket message. */
  send(bytes: Uint8Array): void;
  sendPacket(packet: Packet): void;
  isOpen(): boolean;
}

/** Connects from one of this machine's own addresses. Resolves when the connection is there. */
export async function openSocket(url: string, localAddress: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  // whoever is cut off has what it deserves
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/**
 * Resolves when the connection is upgraded.
 *
 * @param says whether the client says CONNECT
 */
export async function openRaw(url: string, address: string, says = true): Promise<RawClient> {
  const socket = await openSocket(url, address);
  socket.write(upgradeTo('/api/mqtt/v1', 'Sec-WebSocket-Protocol: mqtt'));
  const head = await firstData(socket);
  if (!head.includes('HTTP/1.1 101')) {
    socket.destroy();
    throw new Error(head.subarray(0, 40).toString());
  }
  const client: RawClient = {
    socket,
    send(bytes) {
      if (client.isOpen()) socket.write(frame(bytes));
    },
    sendPacket: (packet) => client.send(encodePacket(packet)),
    isOpen: () => !socket.destroyed && socket.writable,
  };
  if (says)
    client.sendPacket({
      type: PacketType.Connect,
      level: 4,
      cleanSession: true,
      clientId: '',
      keepAlive: 0,
    });
  return client;
}

/** Throws where the connection ends before, or nothing comes for ten seconds. */
export async function firstData(socket: Socket): Promise<Buffer> {
  socket.setTimeout(10_000, () => socket.destroy());
  const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  socket.setTimeout(0);
  if (!Buffer.isBuffer(data)) throw new Error('closed without an answer');
  return data;
}
