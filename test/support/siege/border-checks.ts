/**
 * What a client gets at the border of a node (RFC 9112, RFC 6455, docs/contract.md), over bare
 * connections: each check throws where it gets something else.
 */
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { encodePacket, PacketType } from '../../../src/mqtt/packets.ts';
import { openRaw, openSocket, type RawClient } from './raw-client.ts';

type Check = (url: string) => Promise<void>;

/** All bytes that come until the connection ends or so many milliseconds have passed. */
async function exchange(url: string, request: string, ms = 2000): Promise<Buffer> {
  const socket = await openSocket(url, '127.0.4.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(request);
  for (const end = Date.now() + ms; !socket.destroyed && Date.now() < end; ) await sleep(20);
  socket.destroy();
  return Buffer.concat(chunks);
}

const answers =
  (request: string, status: number, like: RegExp = /^/): Check =>
  async (url) => {
    const answer = (await exchange(url, request)).toString('latin1');
    assert.match(answer, new RegExp(`^HTTP/1\\.[01] ${status}`), answer.slice(0, 200));
    assert.match(answer, like);
  };

/** JSON with CORS, as every error that leaves the process. */
const JSON_ERROR = /access-control-allow-origin: \*[\s\S]*\{"error":/i;

const WEBSOCKET = [
  'GET /api/mqtt/v1 HTTP/1.1',
  'Host: x',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Protocol: mqtt',
].join('\r\n');

/** A client with all that it is sent. */
async function connected(
  url: string,
  address: string,
  clientId = '',
): Promise<RawClient & { received: Buffer[] }> {
  const client = await openRaw(url, address, false);
  const received: Buffer[] = [];
  client.socket.on('data', (chunk: Buffer) => received.push(chunk));
  const [level, cleanSession, keepAlive] = [4, true, 60];
  client.sendPacket({ type: PacketType.Connect, level, cleanSession, clientId, keepAlive });
  await until(() => received.length > 0, 5000, 'CONNACK');
  return { ...client, received };
}

async function until(holds: () => boolean, ms: number, what: string): Promise<void> {
  for (const end = Date.now() + ms; !holds(); await sleep(10))
    if (Date.now() > end) throw new Error(`no ${what} within ${ms} ms`);
}

const hasCloseFrame = ({ received }: { received: Buffer[] }) =>
  Buffer.concat(received).includes(0x88);

export const BORDER_CHECKS: Readonly<Record<string, Check>> = {
  'HTTP/1.0 without Host': answers('GET /api/core/v2/info HTTP/1.0\r\n\r\n', 200),
  'OPTIONS of HTTP/1.0': answers('OPTIONS / HTTP/1.0\r\n\r\n', 204),
  'an empty Host': answers(
    'GET /api/core/v2/info HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n',
    200,
  ),
  'absolute form': answers(
    'GET http://x/api/core/v2/info HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    200,
  ),
  'no Host in HTTP/1.1': answers('GET /api/core/v2/info HTTP/1.1\r\n\r\n', 400, JSON_ERROR),
  async 'HEAD without a body'(url) {
    const answer = await exchange(
      url,
      'HEAD /api/core/v2/info HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200[\s\S]*\r\n\r\n$/);
  },
  async 'gzip where it is accepted'(url) {
    const ask = (accept: string) =>
      exchange(url, `GET /openapi.json HTTP/1.0\r\nHost: x\r\nAccept-Encoding: ${accept}\r\n\r\n`);
    const plain = await ask('identity');
    const zipped = await ask('gzip');
    const bodyOf = (answer: Buffer) => answer.subarray(answer.indexOf('\r\n\r\n') + 4);
    assert.match(zipped.toString('latin1'), /content-encoding: gzip/i);
    assert.match(zipped.toString('latin1'), /vary: .*accept-encoding/i);
    assert.deepEqual(gunzipSync(bodyOf(zipped)), bodyOf(plain));
    assert.ok(zipped.length < plain.length / 3);
  },
  CONNECT: answers('CONNECT /x HTTP/1.1\r\nHost: x\r\n\r\n', 405, JSON_ERROR),
  'an unknown method': answers('FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 405, JSON_ERROR),
  'a WebSocket without a key': answers(
    `${WEBSOCKET}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    400,
    JSON_ERROR,
  ),
  'a WebSocket of version 12': answers(
    `${WEBSOCKET}\r\nSec-WebSocket-Version: 12\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`,
    426,
    JSON_ERROR,
  ),
  async 'a header of spaces: 400 at once'(url) {
    const began = performance.now();
    await answers(`GET / HTTP/1.1\r\nHost: x\r\nA:${' '.repeat(32_600)}\x01\r\n\r\n`, 400)(url);
    // the answer ends the connection
    assert.ok(performance.now() - began < 1900);
  },
  async 'a close frame is answered'(url) {
    const client = await connected(url, '127.0.4.2');
    client.received.length = 0;
    client.socket.write(Buffer.from('888200000000' + '03e8', 'hex'));
    await until(() => hasCloseFrame(client), 1000, 'close frame');
    await until(() => client.socket.destroyed, 5000, 'end of TCP');
  },
  async 'TCP ends 10 s after a close frame that nobody answers'(url) {
    const client = await connected(url, '127.0.4.3');
    client.received.length = 0;
    client.send(Uint8Array.of(0, 0));
    await until(() => hasCloseFrame(client), 1000, 'close frame');
    await until(() => client.socket.destroyed, 15_000, 'end of TCP');
  },
  async 'a message that never ends is closed'(url) {
    const client = await connected(url, '127.0.4.4');
    const head = Buffer.alloc(14);
    head.writeUInt16BE(0x82ff);
    head.writeBigUInt64BE(30_000_000n, 2);
    client.socket.write(Buffer.concat([head, Buffer.alloc(300_000)]));
    await until(() => client.socket.destroyed, 15_000, 'end of TCP');
  },
  async 'many topics in a packet are closed'(url) {
    const client = await connected(url, '127.0.4.5');
    client.received.length = 0;
    const topics = new Array(10_000).fill('');
    client.send(encodePacket({ type: PacketType.Unsubscribe, packetId: 1, topics }));
    await until(() => hasCloseFrame(client), 2000, 'close frame');
    client.socket.destroy();
  },
  async 'an ID of another address closes nobody'(url) {
    const [one, other] = [
      await connected(url, '127.0.4.6', 'same'),
      await connected(url, '127.0.4.7', 'same'),
    ];
    one.received.length = 0;
    one.sendPacket({ type: PacketType.PingRequest });
    await until(() => Buffer.concat(one.received).includes(0xd0), 2000, 'PINGRESP');
    assert.ok(!hasCloseFrame(one));
    for (const { socket } of [one, other]) socket.destroy();
  },
};
