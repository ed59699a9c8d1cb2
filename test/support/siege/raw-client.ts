/**
 * A WebSocket to the broker of events over a bare TCP connection, which says any bytes at any time
 * and may stop to read: what clients of libraries never do.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { encodePacket, type Packet, PacketType } from '../../../src/mqtt/packets.ts';

/** Bytes of a masked frame's mask. */
const NO_MASK = Buffer.alloc(4);

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
  const { host } = new URL(url);
  const socket = await openSocket(url, address);
  socket.write(
    [
      'GET /api/mqtt/v1 HTTP/1.1',
      `Host: ${host}`,
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      'Sec-WebSocket-Protocol: mqtt',
      '\r\n',
    ].join('\r\n'),
  );
  const head = await firstData(socket);
  if (!head.includes('HTTP/1.1 101')) {
    socket.destroy();
    throw new Error(head.subarray(0, 40).toString());
  }
  const client: RawClient = {
    socket,
    send(bytes) {
      if (client.isOpen()) socket.write(Buffer.concat([frameHeader(bytes.length), bytes]));
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

/** Of a whole binary message (RFC 6455, 5.2). */
function frameHeader(length: number): Buffer {
  const header = Buffer.alloc(10);
  header[0] = 0x82;
  if (length < 126) {
    header[1] = 0x80 | length;
    return Buffer.concat([header.subarray(0, 2), NO_MASK]);
  }
  header[1] = 0x80 | 127;
  header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, NO_MASK]);
}
