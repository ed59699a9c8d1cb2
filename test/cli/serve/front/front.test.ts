/** The front of `npm run serve`, before a server that takes workerd's place. */
import { readdirSync, statSync } from 'node:fs';
import { createServer as createHttp, type ServerResponse } from 'node:http';
import { BlockList, createServer, type Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openFront } from '../../../../cli/serve/front/front.ts';
import { readKernelQueues } from '../../../../cli/serve/front/kernel-queues.ts';
import {
  type Client,
  GET,
  open,
  served,
  settled,
  startEcho,
  startFront,
} from '../../../support/edge/front.ts';
import { frame, upgradeTo } from '../../../support/siege/raw-client.ts';

/** How often the kernel has told what it holds. */
const kernel = vi.hoisted(() => ({ told: 0 }));
vi.mock(import('../../../../cli/serve/front/kernel-queues.ts'), async (load) => {
  const original = await load();
  return {
    ...original,
    async readKernelQueues(port) {
      const queues = await original.readKernelQueues(port);
      kernel.told += 1;
      return queues;
    },
  };
});

const isSocket = (path: string) => statSync(path, { throwIfNoEntry: false })?.isSocket() === true;

it('requests of one connection are answered in order, with the address of the client', async () => {
  const { front } = await startFront();
  front.passTo(await startEcho());
  const spoofed = GET.replace('\r\n\r\n', '\r\nCF-Connecting-IP: 6.6.6.6\r\n\r\n');
  const forwarded = GET.replace('\r\n\r\n', '\r\nX-Forwarded-For: 1.1.1.1, 2.2.2.2\r\n\r\n');
  const client = await open(front, spoofed + forwarded);
  await settled(() => expect(client.received().match(/\/health [\d.]+/g)).toHaveLength(2));
  expect(client.received().match(/\/health [\d.]+/g)).toEqual([
    '/health 127.0.0.1',
    '/health 2.2.2.2',
  ]);
});

it('one that is closed leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { front } = await startFront();
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  front.close();
  expect(vi.getTimerCount()).toBe(0);
});

it('requests wait for workerd, ten seconds at most, and then get 503 of the contract', async () => {
  const { front, time } = await startFront();
  const early = await open(front, GET);
  await sleep(100);
  time.ahead = 8000;
  const later = await open(front, GET);
  await sleep(1100);
  expect(early.isOpen()).toBe(true);
  time.ahead = 10_000;
  await settled(() => expect(early.isOpen()).toBe(false));
  expect(early.received()).toMatch(/^HTTP\/1\.1 503 .*"message":"service unavailable"/s);
  expect(later.received()).toBe('');
  front.passTo(await startEcho());
  await settled(() => expect(later.received()).toMatch(/^HTTP\/1\.1 200 /));
});

it('a request that a dying workerd has, and those after it, are for the next one', async () => {
  const { front } = await startFront();
  const sockets: Socket[] = [];
  const dying = createServer((socket) => sockets.push(socket));
  front.passTo(await served(dying));
  const clients = [await open(front, GET), await open(front, GET)];
  await settled(() => expect(sockets).toHaveLength(2));
  dying.close();
  for (const socket of sockets) socket.resetAndDestroy();
  clients.push(await open(front, GET));
  await sleep(100);
  expect(clients.map((each) => each.received())).toEqual(['', '', '']);
  front.passTo(await startEcho());
  for (const each of clients)
    await settled(() => expect(each.received()).toMatch(/^HTTP\/1\.1 200 /));
});

it('a connection whose last answer is whole outlives workerd; one that is broken off ends', async () => {
  const { front } = await startFront();
  const sockets: Socket[] = [];
  const dying = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const length = String(bytes).startsWith('GET /short') ? 3 : 2;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\nhi`);
    });
  });
  front.passTo(await served(dying));
  const [whole, short] = [
    await open(front, GET),
    await open(front, GET.replace('/health', '/short')),
  ];
  for (const each of [whole, short]) await settled(() => expect(each.received()).toMatch(/hi$/));
  dying.close();
  for (const socket of sockets) socket.destroy();
  await settled(() => expect(short.isOpen()).toBe(false));
  whole.socket.write(GET);
  front.passTo(await startEcho());
  await settled(() => expect(whole.received()).toMatch(/hiHTTP\/1\.1 200 .*\/health/s));
});

it('a request that three of workerd die of gets 503', async () => {
  const { front } = await startFront();
  let deaths = 0;
  const dying = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      deaths++;
      socket.resetAndDestroy();
    });
  });
  front.passTo(await served(dying));
  expect((await fetch(new URL('/health', front.url))).status).toBe(503);
  expect(deaths).toBe(3);
});

it('of complete requests that wait, the client that holds most bytes loses some', async () => {
  const { front } = await startFront(100, 64 << 20);
  const honest = await open(front, GET, '127.0.0.2');
  const body = 'x'.repeat(1_000_000);
  const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const flood: Client[] = [];
  for (let i = 0; i < 70; i++) flood.push(await open(front, post, '127.0.0.3'));
  await settled(() => expect(flood.filter((each) => each.isOpen()).length).toBeLessThan(68));
  front.passTo(await startEcho());
  await settled(() => expect(honest.received()).toMatch(/200 OK/));
  expect(flood.filter((each) => each.isOpen()).length).toBeGreaterThan(60);
});

it('a connection that workerd has closed meanwhile is opened again', async () => {
  const { front } = await startFront();
  let answers = 0;
  // as workerd closes an idle connection: without a word
  const workerd = createServer((socket) => {
    let isFirst = true;
    socket.on('data', () => {
      if (!isFirst) return void socket.destroy();
      isFirst = false;
      answers++;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
    socket.on('error', () => {});
  });
  front.passTo(await served(workerd));
  const client = await open(front, GET);
  for (let due = 1; due <= 3; due++) {
    await settled(() => expect(client.received().match(/200 OK/g)).toHaveLength(due));
    client.socket.write(GET);
  }
  expect(answers).toBeGreaterThanOrEqual(3);
});

it('a client that says nothing after its answer takes no connection of workerd', async () => {
  const { front, time } = await startFront();
  const held = new Set<Socket>();
  const workerd = createHttp({ keepAliveTimeout: 0 }, (_, response) => response.end('soon'));
  workerd.on('connection', (socket: Socket) => {
    held.add(socket);
    socket.on('close', () => held.delete(socket));
  });
  front.passTo(await served(workerd));
  const client = await open(front, GET);
  await settled(() => expect(client.received()).toMatch(/soon/));
  expect(held.size).toBe(1);
  time.ahead += 2000;
  await settled(() => expect(held.size).toBe(0));
  client.socket.write(GET);
  await settled(() => expect(client.received().match(/soon/g)).toHaveLength(2));
});

it('a client that sends no more has its answer, and takes no place after it', async () => {
  const { front } = await startFront();
  const waiting: (() => void)[] = [];
  const slow = createHttp((request, response) => {
    if (request.url === '/slow') waiting.push(() => response.end('late'));
    else response.end('soon');
  });
  // as workerd: it answers though nothing more will come
  Object.assign(slow, { httpAllowHalfOpen: true });
  front.passTo(await served(slow));
  const answered = await open(front, GET);
  await settled(() => expect(answered.received()).toMatch(/soon/));
  answered.socket.end();
  await settled(() => expect(answered.isOpen()).toBe(false));
  const early = await open(front, GET.replace('/health', '/slow'));
  await settled(() => expect(waiting).toHaveLength(1));
  early.socket.end();
  await sleep(100);
  expect(early.isOpen()).toBe(true);
  waiting[0]!();
  await settled(() => expect(early.isOpen()).toBe(false));
  expect(early.received()).toMatch(/late/);
});

/** A front whose clock stands, so that no place is lost to time, before one that answers when told. */
async function startSlow() {
  const address = { host: '127.0.0.1', port: 0, maxConnections: 100 };
  const front = await openFront({ ...address, proxies: new BlockList(), clock: () => 0 });
  onTestFinished(() => front.close());
  const passed: ServerResponse[] = [];
  const slow = createHttp((_, response) => void passed.push(response));
  // as workerd: it answers though nothing more will come
  Object.assign(slow, { httpAllowHalfOpen: true });
  front.passTo(await served(slow));
  /** As many clients of one address, each with a request, the half of which may be passed on. */
  const ask = (count: number) => Promise.all(Array.from({ length: count }, () => open(front, GET)));
  return { front, passed, ask };
}

it('a request whose client has gone keeps its place until it is answered, and no longer', async () => {
  const { passed, ask } = await startSlow();
  const gone = await ask(12);
  await settled(() => expect(passed).toHaveLength(8));
  for (const { socket } of gone) socket.resetAndDestroy();
  await sleep(50);
  const all = await ask(40);
  await sleep(100);
  expect(passed).toHaveLength(8);
  // each answer makes room for one
  for (const response of passed.splice(0)) response.end('late');
  await settled(() => expect(passed).toHaveLength(8));
  await sleep(50);
  expect(passed).toHaveLength(8);
  await settled(() => {
    for (const response of passed.splice(0)) response.end('late');
    for (const each of all) expect(each.received()).toMatch(/late$/);
  });
});

it('a request whose client has gone is given up where it is never answered', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { passed, ask } = await startSlow();
  const gone = await ask(8);
  await settled(() => expect(passed).toHaveLength(8));
  for (const { socket } of gone) socket.resetAndDestroy();
  await sleep(50);
  await ask(8);
  vi.advanceTimersByTime(55_000);
  await sleep(50);
  expect(passed).toHaveLength(8);
  vi.advanceTimersByTime(5000);
  await settled(() => expect(passed).toHaveLength(16));
});

it('who has gone before he was accepted is nobody, and gets no place', async () => {
  const { front, passed } = await startSlow();
  const done = new Int32Array(new SharedArrayBuffer(4));
  // in a thread of its own, as the front must not run meanwhile
  const client = new Worker(
    `const { workerData } = require('node:worker_threads');
    let left = 20;
    for (let i = left; i > 0; i--) {
      const socket = require('node:net').connect(workerData.port, '127.0.0.1');
      socket.write(workerData.request, () => {
        socket.resetAndDestroy();
        left -= 1;
        if (left === 0) Atomics.notify(workerData.done, 0, Atomics.store(workerData.done, 0, 1));
      });
    }`,
    { eval: true, workerData: { port: Number(front.url.port), request: GET, done } },
  );
  onTestFinished(async () => void (await client.terminate()));
  expect(Atomics.wait(done, 0, 0, 5000)).toMatch(/ok|not-equal/);
  await open(front, GET);
  await settled(() => expect(passed).toHaveLength(1));
  await sleep(100);
  expect(passed).toHaveLength(1);
});

it('a node that ends does not wait for requests whose client has gone', async () => {
  const { front, passed, ask } = await startSlow();
  const [gone] = await ask(1);
  await settled(() => expect(passed).toHaveLength(1));
  gone!.socket.resetAndDestroy();
  await sleep(50);
  const began = performance.now();
  await front.drain();
  expect(performance.now() - began).toBeLessThan(4500);
});

it.each([
  ['has gone', (socket: Socket) => void socket.resetAndDestroy()],
  ['sends no more', (socket: Socket) => void socket.end()],
])('an upgrade whose client %s is closed by a frame once it is there', async (_, leave) => {
  const { front } = await startFront();
  const sockets: Socket[] = [];
  const heard: string[] = [];
  const workerd = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once('data', () => {
      sockets.push(socket);
      socket.on('data', (more) => heard.push(more.toString('hex')));
    });
    socket.on('error', () => {});
  });
  front.passTo(await served(workerd));
  const client = await open(front, upgradeTo('/mqtt'));
  await settled(() => expect(sockets).toHaveLength(1));
  leave(client.socket);
  await sleep(50);
  sockets[0]!.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  await settled(() => expect(heard).toEqual(['888000000000']));
  await settled(() => expect(client.isOpen()).toBe(false));
  sockets[0]!.destroy();
});

it.runIf(process.platform === 'linux')('a reset while FIN is on its way closes', async () => {
  const { front } = await startFront();
  const sockets = () =>
    readdirSync('/proc/self/fd').filter((fd) => isSocket(`/proc/self/fd/${fd}`)).length;
  const client = await open(front, '');
  const before = sockets();
  const ends = vi.spyOn(Socket.prototype, 'end').mockImplementationOnce(function (
    this: Socket,
    text,
  ) {
    ends.mockRestore();
    this.end(text);
    front.close();
    return this;
  });
  client.socket.write('BAD\r\n\r\n');
  await settled(() => expect(client.isOpen()).toBe(false));
  // both ends, and where it listened
  await settled(() => expect(sockets()).toBe(before - 3));
});

it('slow heads and bodies are 400, and silent and idle connections are closed', async () => {
  const { front, time } = await startFront();
  front.passTo(await startEcho());
  const post = 'POST /api/core/v2/whiteflag HTTP/1.1\r\nHost: a\r\nContent-Length: 60\r\n\r\n{';
  const silent = await open(front);
  const slow = [await open(front, 'GET /hea'), await open(front, post)];
  const idle = await open(front, GET);
  await settled(() => expect(idle.received()).toMatch(/^HTTP\/1.1 200/));
  time.ahead = 15_000;
  await settled(() => expect([silent, ...slow].filter((each) => each.isOpen())).toEqual([]));
  for (const each of slow) expect(each.received()).toMatch(/^HTTP\/1.1 400 .*did not arrive/s);
  expect(idle.isOpen()).toBe(true);
  time.ahead = 66_000;
  await settled(() => expect(idle.isOpen()).toBe(false));
});

it('where there are too many connections, the client that has most loses some', async () => {
  const { front } = await startFront(20);
  front.passTo(await startEcho());
  const honest = await open(front, GET, '127.0.0.2');
  await settled(() => expect(honest.received()).toMatch(/200 OK/));
  const flood: Client[] = [];
  for (let i = 0; i < 60; i++) flood.push(await open(front, '', '127.0.0.3'));
  await settled(() => expect(flood.filter((each) => each.isOpen()).length).toBeLessThan(20));
  honest.socket.write(GET);
  await settled(() => expect(honest.received().match(/200 OK/g)).toHaveLength(2));
  const newcomer = await open(front, GET, '127.0.0.4');
  await settled(() => expect(newcomer.received()).toMatch(/200 OK/));
});

it('of a crowd that says nothing, nobody closes who waits for an answer', async () => {
  const { front } = await startFront(30);
  const crowd: Client[] = [];
  for (let i = 1; i <= 30; i++) crowd.push(await open(front, '', `127.0.1.${i}`));
  const waiting = await open(front, GET, '127.0.0.9');
  await settled(() => expect(crowd.filter((each) => each.isOpen()).length).toBeLessThan(30));
  for (let i = 1; i <= 5; i++) await open(front, '', `127.0.2.${i}`);
  front.passTo(await startEcho());
  await settled(() => expect(waiting.received()).toMatch(/200 OK/));
});

/** Upgrades each request. */
function startSwitching(): Promise<URL> {
  return served(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
    }),
  );
}

it('of a crowd that came at once as many are closed as are too many, and no more', async () => {
  const { front } = await startFront(1000, 20 * 122 * 1024);
  const crowd = await Promise.all(
    Array.from({ length: 32 }, (_, i) => open(front, upgradeTo('/mqtt'), `127.0.1.${i + 1}`)),
  );
  // all wait, and are answered in one turn
  await sleep(100);
  front.passTo(await startSwitching());
  const left = () => crowd.filter((each) => each.isOpen()).length;
  await settled(() => expect(left()).toBeLessThanOrEqual(20));
  await sleep(1500);
  expect(left()).toBeGreaterThanOrEqual(19);
});

it('a WebSocket is a tunnel, and an upgrade that is refused is not', async () => {
  const { front } = await startFront();
  const seen: string[] = [];
  const workerd = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      seen.push(String(bytes));
      const isSocket = String(bytes).includes('/mqtt');
      socket.write(
        isSocket
          ? 'HTTP/1.1 101 Switching\r\n\r\n'
          : 'HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n',
      );
      socket.on('data', (more: Buffer) => {
        seen.push(String(more));
        // as a server: without a mask
        if (isSocket)
          socket.write(Buffer.concat([Buffer.from([0x82, more.length - 6]), more.subarray(6)]));
      });
    });
  });
  front.passTo(await served(workerd));
  const tunnel = await open(front, upgradeTo('/mqtt'));
  tunnel.socket.write(frame('frames'));
  await settled(() => expect(tunnel.received()).toMatch(/^HTTP\/1.1 101 .*frames$/s));
  tunnel.socket.write(frame('more'));
  await settled(() => expect(tunnel.received()).toMatch(/frames.*more$/s));
  seen.length = 0;
  // bytes behind it are a request like any other, and are checked
  const hidden = 'GET /metrics HTTP/1.1\r\nHost: x/metrics?\r\n\r\n';
  const other = await open(front, upgradeTo('/health') + hidden);
  await settled(() => expect(other.received()).toMatch(/404 No.*HTTP\/1.1 400/s));
  await sleep(20);
  expect(seen.join('')).not.toContain('/metrics');
});

it('where WebSockets take too much memory, the client that has most loses some', async () => {
  // 120 KB each
  const { front } = await startFront(100, 20 * 122_880);
  front.passTo(await startSwitching());
  const upgraded = async (address: string) => {
    const client = await open(front, upgradeTo('/mqtt'), address);
    await settled(() => expect(client.received() || !client.isOpen()).toBeTruthy());
    return client;
  };
  const isUpgraded = (each: Client) => each.isOpen() && / 101 /.test(each.received());
  // as in a siege: a dozen addresses take what they can, one after the other
  const theirs: Client[] = [];
  for (let i = 0; i < 60; i++) theirs.push(await upgraded(`127.0.1.${1 + Math.floor(i / 5)}`));
  const honest = [];
  for (let i = 1; i <= 4; i++) honest.push(await upgraded(`127.0.0.${10 + i}`));
  for (let i = 0; i < 60; i++) theirs.push(await upgraded(`127.0.1.${1 + (i % 2)}`));
  await settled(() => expect(theirs.filter(isUpgraded).length).toBeLessThanOrEqual(16));
  expect(theirs.filter(isUpgraded).length).toBeGreaterThan(8);
  expect(honest.map(isUpgraded)).toEqual([true, true, true, true]);
});

it('connections that say nothing take memory, too: the client that has most loses some', async () => {
  const { front } = await startFront(1000, 1 << 20);
  front.passTo(await startEcho());
  const honest = await open(front, GET, '127.0.0.2');
  const flood: Client[] = [];
  for (let i = 0; i < 150; i++) flood.push(await open(front, '', '127.0.0.3'));
  // 10 KB each
  await settled(() => expect(flood.filter((each) => each.isOpen()).length).toBeLessThan(104));
  expect(flood.filter((each) => each.isOpen()).length).toBeGreaterThan(90);
  expect(honest.isOpen()).toBe(true);
});

it('of a crowd of WebSockets the youngest are closed, and not who was just told something', async () => {
  const { front } = await startFront(1000, 12 * 122 * 1024);
  const timers: NodeJS.Timeout[] = [];
  onTestFinished(() => timers.forEach(clearInterval));
  const telling = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
      );
      const message = Buffer.concat([Buffer.from([0x82, 126, 1, 244]), Buffer.alloc(500)]);
      if (String(bytes).startsWith('GET /told'))
        timers.push(setInterval(() => socket.write(message), 20));
    });
  });
  front.passTo(await served(telling));
  const told: Client[] = [];
  for (const i of [2, 3, 4]) told.push(await open(front, upgradeTo('/told'), `127.0.0.${i}`));
  for (const each of told)
    await settled(() => expect(each.received().length).toBeGreaterThan(2000));
  const crowd: Client[] = [];
  for (let burst = 0; burst < 8; burst++) {
    const addresses = Array.from({ length: 20 }, (_, i) => `127.0.1.${20 * burst + i + 1}`);
    const idle = addresses.map((address) => open(front, upgradeTo('/idle'), address));
    crowd.push(...(await Promise.all(idle)));
    // a second look at what the kernel has
    await sleep(100);
  }
  const left = () => crowd.filter((each) => each.isOpen());
  await settled(() => expect(left().length).toBeLessThan(12));
  expect(told.map((each) => each.isOpen())).toEqual([true, true, true]);
});

/** A front that has just asked the kernel, for so long that it may not do so again for its time. */
async function startAsked(maxBytes: number, workerd: Server) {
  kernel.told = 0;
  // asking is all that takes time
  const clock = () => kernel.told;
  const address = { host: '127.0.0.1', port: 0, maxConnections: 1000 };
  const front = await openFront({ ...address, maxBytes, proxies: new BlockList(), clock });
  onTestFinished(() => front.close());
  front.passTo(await served(workerd));
  await settled(() => expect(kernel.told).toBe(1));
  return front;
}

it('who has read what was sent is not closed for it, however long the kernel is not asked', async () => {
  const message = Buffer.concat([Buffer.from([0x82, 126, 255, 255]), Buffer.alloc(65_535)]);
  const telling = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
      if (String(bytes).startsWith('GET /told')) socket.write(message);
    });
  });
  const front = await startAsked(12 * 122 * 1024, telling);
  const told = await open(front, upgradeTo('/told'));
  await settled(() => expect(told.received().length).toBeGreaterThan(65_535));
  const crowd = await Promise.all(
    Array.from({ length: 20 }, (_, i) => open(front, upgradeTo('/idle'), `127.0.1.${i + 1}`)),
  );
  await settled(() => expect(crowd.filter((each) => each.isOpen())).toHaveLength(11));
  // what each connection holds is counted each second
  await sleep(1100);
  expect([told, ...crowd].filter((each) => each.isOpen())).toHaveLength(12);
  expect(told.isOpen()).toBe(true);
  expect(kernel.told).toBe(1);
});

it('when much was sent the kernel is asked, however long that takes', async () => {
  const body = Buffer.alloc(2 << 20, 'x');
  const workerd = createHttp((_, response) => response.end(body));
  const front = await startAsked(20 << 20, workerd);
  for (let i = 0; i < 30; i++) (await open(front, GET)).socket.pause();
  await settled(() => expect(kernel.told).toBeGreaterThan(1));
});

it.runIf(process.platform === 'linux')(
  'the kernel holds little for who has gone and reads nothing',
  {
    timeout: 60_000,
  },
  async () => {
    const { front } = await startFront(1000, 64 << 20);
    const body = Buffer.alloc(3 << 20, 'x');
    front.passTo(await served(createHttp((_, response) => response.end(body))));
    for (let i = 0; i < 100; i++) {
      const { socket } = await open(front, GET, '127.0.0.1', true);
      socket.once('data', () => {
        socket.pause();
        // the front has no more to send, and its kernel has
        setTimeout(() => socket.end(), 100);
      });
      await sleep(20);
    }
    await sleep(1500);
    const queues = await readKernelQueues(Number(front.url.port));
    const held = [...queues.values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(held).toBeLessThan(64 << 20);
    const honest = await open(front, GET, '127.0.0.2');
    await settled(() => expect(honest.received().length).toBeGreaterThan(body.length));
  },
);
