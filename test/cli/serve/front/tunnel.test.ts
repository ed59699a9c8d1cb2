/** WebSockets through the front of `npm run serve`: frames, rate, size and time. */
import { createServer, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import * as ws from 'ws';
import { createMessages } from '../../../../cli/serve/front/frames.ts';
import { createMessageTurns } from '../../../../cli/serve/front/message-turns.ts';
import { MAX_FRAMES, MAX_MESSAGE_BYTES } from '../../../../cli/serve/front/tunnel.ts';
import { type Client, open, served, settled, startFront } from '../../../support/edge/front.ts';
import { frame, upgradeTo } from '../../../support/siege/raw-client.ts';

/** Opcodes of the frames that our reader finds in bytes that come in pieces, and what is wrong. */
function follow(bytes: Buffer, ends: readonly number[]) {
  const messages = createMessages(1000);
  const found: number[] = [];
  let at = 0;
  const places = ends.filter((end) => end < bytes.length).sort((a, b) => a - b);
  for (const to of [...places, bytes.length])
    for (;;) {
      const frame = messages.next(bytes.subarray(0, to), at);
      if (frame === undefined) break;
      if ('code' in frame) return { found, code: frame.code };
      found.push(frame.opcode);
      at = frame.end;
    }
  return { found, code: undefined };
}

/** Not among the types of ws. */
const { Receiver } = ws as unknown as { Receiver: new (options: object) => Writable };

/** The same of a reader that the world uses. */
async function followByWs(bytes: Buffer) {
  const receiver = new Receiver({ isServer: true, maxPayload: 1000, skipUTF8Validation: true });
  let code: number | undefined;
  let isOver = false;
  const found: string[] = [];
  receiver.on('message', () => found.push('message'));
  receiver.on('ping', () => found.push('ping'));
  receiver.on('pong', () => found.push('pong'));
  receiver.on('conclude', () => {
    found.push('close');
    isOver = true;
  });
  receiver.on('error', (error: Error & { code?: string }) => {
    code = error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' ? 1009 : 1002;
  });
  receiver.write(bytes);
  // it tells of what is wrong in a later turn
  await new Promise(setImmediate);
  return { found, code, isOver };
}

it('frames are as ws reads them, however they are cut', async () => {
  const header = fc.tuple(
    // mostly what is right
    fc.oneof(fc.constantFrom(0x82, 0x81, 0x02, 0x00, 0x80, 0x89, 0x8a), fc.nat(255)),
    fc.oneof({ weight: 9, arbitrary: fc.constant(0x80) }, { weight: 1, arbitrary: fc.constant(0) }),
    fc.oneof(fc.nat(130), fc.nat(1200)),
  );
  const bytesOf = ([first, mask, length]: [number, number, number]) => {
    const size = length < 126 ? [mask | length] : [mask | 126, length >> 8, length & 255];
    const masked = mask === 0 ? [] : [0, 0, 0, 0];
    return Buffer.concat([Buffer.from([first, ...size, ...masked]), Buffer.alloc(length, 1)]);
  };
  let faults = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(header, { maxLength: 8 }),
      fc.array(fc.nat(3000)),
      async (all, ends) => {
        // a Close frame with a payload of ones has a code that ws refuses
        const frames = all.filter(([first, , length]) => (first & 15) !== 8 || length < 2);
        const bytes = Buffer.concat(frames.map(bytesOf));
        const ours = follow(bytes, ends);
        const { found, code, isOver } = await followByWs(bytes);
        if (isOver) return;
        expect(ours.code).toBe(code);
        if (code !== undefined) faults++;
        const controls = ours.found.filter((opcode) => opcode > 8);
        expect(controls).toEqual(
          found.flatMap((each) => (each === 'ping' ? 9 : each === 'pong' ? 10 : [])),
        );
      },
    ),
    { numRuns: 2000 },
  );
  expect(faults).toBeGreaterThan(100);
});

/** A server in workerd's place that switches, and what it is sent after that. */
async function startTunnels() {
  const { front, time } = await startFront();
  const sockets: Socket[] = [];
  const sent: Buffer[] = [];
  front.passTo(
    await served(
      createServer({ allowHalfOpen: true }, (socket) => {
        socket.on('error', () => {});
        socket.on('end', () => socket.end());
        socket.once('data', () => {
          sockets.push(socket);
          socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n');
          socket.on('data', (bytes: Buffer) => sent.push(bytes));
        });
      }),
    ),
  );
  const connect = async (isZombie = false) => {
    const client = await open(front, upgradeTo('/mqtt'), '127.0.0.1', isZombie);
    await settled(() => expect(client.received()).toMatch(/^HTTP\/1.1 101 .*\r\n\r\n/s));
    const at = client.received().length;
    return { ...client, told: () => client.received().slice(at) };
  };
  return { time, sockets, connect, sentText: () => Buffer.concat(sent).toString('latin1') };
}

it('a message that is too long, not masked, or has reserved bits is refused by Close', async () => {
  const { connect, sentText } = await startTunnels();
  const long = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0]);
  const half = Buffer.concat([
    Buffer.from([0x02, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    Buffer.alloc(65_536),
  ]);
  for (const [bytes, code] of [
    [long, 1009],
    [Buffer.concat([half, Buffer.from([0x00]), half.subarray(1), frame('a', 0x80)]), 1009],
    [Buffer.from([0x82, 1, 0x61]), 1002],
    [frame('a', 0xc2), 1002],
    [frame('a', 0x83), 1002],
    [frame('a', 0x80), 1002],
  ] as const) {
    const client = await connect();
    client.socket.write(bytes);
    await settled(() => expect(client.told()).toMatch(/^\x88/));
    const told = Buffer.from(client.told(), 'latin1');
    expect(told.readUInt16BE(2)).toBe(code);
    await settled(() => expect(client.isOpen()).toBe(false));
  }
  expect(sentText().length).toBeLessThan(3 * MAX_MESSAGE_BYTES);
});

it.each([
  ['empty fragments', frame('', 0x00)],
  ['pings', frame('', 0x89)],
])('a message in fragments is passed on as a whole; one of many %s is refused', async (_, part) => {
  const { connect, sentText } = await startTunnels();
  const [honest, endless] = [await connect(), await connect()];
  honest.socket.write(Buffer.concat([frame('first', 0x02), frame('ping', 0x89)]));
  for (let i = 3; i < MAX_FRAMES; i++) honest.socket.write(part);
  endless.socket.write(frame('', 0x02));
  for (let i = 0; i < MAX_FRAMES; i++) endless.socket.write(part);
  const reason = () => Buffer.from(endless.told(), 'latin1').subarray(2, 4).toString('hex');
  await settled(() => expect(reason()).toBe((1009).toString(16).padStart(4, '0')));
  expect(sentText()).not.toMatch(/first|ping/);
  honest.socket.write(frame('last', 0x80));
  await settled(() => expect(sentText()).toMatch(/first.*ping.*last/s));
  expect(honest.isOpen()).toBe(true);
});

it('a message that does not arrive within 15 s is refused, however it comes', async () => {
  const { connect, time } = await startTunnels();
  const [slow, fragments, quiet] = [await connect(), await connect(), await connect()];
  slow.socket.write(frame('abcdef').subarray(0, 8));
  fragments.socket.write(frame('a', 0x02));
  quiet.socket.write(frame('whole'));
  await sleep(200);
  time.ahead = 14_000;
  // pings and further pieces do not make it younger
  slow.socket.write('c');
  fragments.socket.write(Buffer.concat([frame('', 0x89), frame('b', 0x00)]));
  await sleep(200);
  time.ahead = 15_000;
  await settled(() => expect([slow.isOpen(), fragments.isOpen()]).toEqual([false, false]));
  expect(quiet.isOpen()).toBe(true);
});

it('a message is as old as its own first byte, not as that of one before it', async () => {
  const { connect, time, sentText } = await startTunnels();
  const [slow, steady] = [await connect(), await connect()];
  slow.socket.write(frame('never').subarray(0, 3));
  let rest = frame('m0');
  for (let i = 0; i < 4; i++) {
    const next = frame(`m${i + 1}`);
    steady.socket.write(Buffer.concat([rest, next.subarray(0, 3)]));
    await settled(() => expect(sentText()).toContain(`m${i}`));
    rest = next.subarray(3);
    time.ahead += 5000;
  }
  await settled(() => expect(slow.isOpen()).toBe(false));
  expect(steady.isOpen()).toBe(true);
});

it('what follows a Close frame of the client is dropped, and TCP ends within 10 s', async () => {
  const { connect, time, sentText, sockets } = await startTunnels();
  const client = await connect();
  client.socket.write(Buffer.concat([frame('\x03\xe8', 0x88), frame('behind')]));
  await settled(() => expect(sentText()).toContain('\x03\xe8'));
  client.socket.write(frame('later'));
  await sleep(50);
  expect(sentText()).not.toMatch(/behind|later/);
  // the broker answers, or does not
  const answered = await connect();
  answered.socket.write(frame('\x03\xe8', 0x88));
  await sleep(50);
  sockets[1]!.write(Buffer.from([0x88, 2, 3, 232]));
  await settled(() => expect(answered.isOpen()).toBe(false));
  expect(answered.told()).toBe('\x88\x02\x03\xe8');
  expect(client.isOpen()).toBe(true);
  time.ahead = 10_000;
  await settled(() => expect(client.isOpen()).toBe(false));
});

it('what a client does not read is not held in workerd when it has said Close', async () => {
  const { connect, sentText, sockets } = await startTunnels();
  const [unread, reader] = [await connect(), await connect()];
  unread.socket.pause();
  const data = Buffer.alloc(1004, 'd');
  Buffer.from([0x82, 126, 1000 >> 8, 1000 & 255]).copy(data);
  // more than the kernel and the front hold
  const all = Buffer.concat(Array.from({ length: 20_000 }, () => data));
  sockets[0]!.write(all);
  // of a frame that has begun the rest comes too
  sockets[1]!.write(data.subarray(0, 500));
  await settled(() => expect(reader.told()).toHaveLength(500));
  await sleep(100);
  expect(sockets[0]!.writableLength).toBeGreaterThan(0);
  for (const client of [unread, reader]) client.socket.write(frame('\x03\xe8', 0x88));
  await settled(() => expect(sentText().split('\x03\xe8')).toHaveLength(3));
  sockets[1]!.write(data.subarray(500));
  sockets[1]!.write(Buffer.concat([data, data, data.subarray(0, 300)]));
  await settled(() => expect(reader.told()).toHaveLength(1004));
  await sleep(50);
  sockets[1]!.write(Buffer.concat([data.subarray(300), Buffer.from([0x88])]));
  sockets[1]!.write(Buffer.from([2, 3, 232]));
  await settled(() => expect(reader.isOpen()).toBe(false));
  expect(reader.told()).toBe(`${data.toString('latin1')}\x88\x02\x03\xe8`);
  await settled(() => expect(sockets[0]!.writableLength).toBe(0));
});

it('a client that ignores a Close frame of the broker is gone after 10 s, and sends nothing', async () => {
  const { connect, time, sentText, sockets } = await startTunnels();
  const [zombie, polite] = [await connect(true), await connect()];
  for (const socket of sockets) socket.write(Buffer.from([0x88, 2, 3, 232]));
  await settled(() => expect(zombie.told() + polite.told()).toHaveLength(8));
  zombie.socket.write(frame('zombie'));
  polite.socket.write(frame('\x03\xe8', 0x88));
  await settled(() => expect(polite.isOpen()).toBe(false));
  expect(sentText()).not.toMatch(/zombie/);
  expect(zombie.isOpen()).toBe(true);
  time.ahead = 10_000;
  await settled(() => {
    // it reads no more, so it sees the reset when it writes
    zombie.socket.write(frame('zombie'));
    expect(zombie.isOpen()).toBe(false);
  });
  expect(sockets.map((socket) => socket.destroyed || socket.readableEnded)).toEqual([true, true]);
});

it('messages are passed on by turns: a flood of empty ones delays one message by a round', () => {
  const turns = createMessageTurns();
  const passed: string[] = [];
  const senderOf = (site: string, messages: number) => {
    const sender = {
      client: [site] as const,
      credit: 1,
      go() {
        for (; messages > 0; messages--) {
          if (!turns.mayPass(sender)) return;
          turns.pay(sender, 0);
          passed.push(site);
        }
      },
    };
    return sender;
  };
  for (let i = 0; i < 8; i++) senderOf(`flood ${i}`, 10_000).go();
  const first = passed.length;
  expect(first).toBeLessThan(150);
  const honest = senderOf('honest', 2);
  honest.go();
  turns.look();
  expect(passed.filter((each) => each === 'honest')).toHaveLength(2);
  for (let i = 0; i < 19; i++) turns.look();
  // 2,400 a second
  expect(passed.length).toBeLessThan(first + 20 * 121);
  expect(passed.length).toBeGreaterThan(first + 20 * 115);
});

it('a long message costs as many short ones', () => {
  const turns = createMessageTurns();
  const sender = { client: ['a'] as const, credit: 1, go() {} };
  expect(turns.mayPass(sender)).toBe(true);
  turns.pay(sender, MAX_MESSAGE_BYTES);
  let rounds = 0;
  while (!turns.mayPass(sender) && rounds < 100) {
    turns.leave(sender);
    rounds += 1;
    turns.look();
  }
  expect(sender.credit).toBeGreaterThan(0);
});

it('who has left 256 WebSockets that workerd has not closed waits, and nobody else', async () => {
  const { front } = await startFront(1000);
  const sockets: Socket[] = [];
  front.passTo(
    await served(
      createServer({ allowHalfOpen: true }, (socket) => {
        sockets.push(socket);
        socket.on('error', () => {});
        socket.on('data', () => {});
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n');
      }),
    ),
  );
  const answerTo = async (address: string) => {
    const client = await open(front, upgradeTo('/mqtt'), address);
    await settled(() => expect(client.received()).toMatch(/^HTTP/));
    return { ...client, status: Number(client.received().slice(9, 12)) };
  };
  // by a reset, a Close frame, and an end
  const leave = [
    ({ socket }: Client) => socket.resetAndDestroy(),
    ({ socket }: Client) => socket.end(frame('\x03\xe8', 0x88)),
    ({ socket }: Client) => socket.destroy(),
  ];
  for (let batch = 0; batch < 4; batch++) {
    const clients = await Promise.all(
      Array.from({ length: 64 }, async () => answerTo('127.0.0.2')),
    );
    expect(new Set(clients.map(({ status }) => status))).toEqual(new Set([101]));
    for (const [i, client] of clients.entries()) leave[i % 3]!(client);
  }
  await settled(() => expect(sockets.filter((each) => each.readableEnded)).toHaveLength(256));
  await vi.waitFor(async () => expect((await answerTo('127.0.0.2')).status).toBe(503), 5000);
  expect((await answerTo('127.0.0.3')).status).toBe(101);
  for (const each of sockets) if (each.readableEnded) each.end();
  await vi.waitFor(async () => expect((await answerTo('127.0.0.2')).status).toBe(101), 5000);
});
