/** Answers as the front of `npm run serve` passes them on, and those that it gives itself. */
import { createServer as createHttp, type ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, it, vi } from 'vitest';
import { createAnswer } from '../../../../cli/serve/front/answer.ts';
import type { RequestHead } from '../../../../cli/serve/front/request-head.ts';
import { GET, open, served, settled, startEcho, startFront } from '../../../support/edge/front.ts';

const LONG = JSON.stringify({ text: 'abc'.repeat(5000) });
const ETAG = '"0123"';

/** As the Worker: JSON with an ETag and its length. */
async function startWorker(): Promise<URL> {
  return served(
    createHttp((request, response) => {
      if (request.headers['if-none-match']?.includes('0123')) {
        response.writeHead(304, { etag: ETAG, 'content-type': 'application/json' });
        response.end();
        return;
      }
      const body = request.url === '/short' ? '{}' : LONG;
      response.setHeader(
        'content-type',
        request.url === '/block' ? 'application/x' : 'application/json',
      );
      response.setHeader('etag', ETAG);
      response.setHeader('vary', 'Accept');
      response.setHeader('content-length', body.length);
      response.write(body.slice(0, 10));
      response.end(body.slice(10));
    }),
  );
}

/** Head and body of one answer, after which the connection ends. */
async function ask(url: URL, head: string) {
  const client = await open({ url }, `${head}\r\n\r\n`);
  await settled(() => expect(client.isOpen()).toBe(false));
  const [answer = '', ...rest] = client.received().split('\r\n\r\n');
  const headers = (name: string) =>
    Array.from(answer.matchAll(new RegExp(`\r\n${name}: (.*)`, 'gi')), ([, value]) => value);
  const header = (name: string) => headers(name)[0];
  return { status: Number(answer.slice(9, 12)), header, headers, body: rest.join('\r\n\r\n') };
}

const lines = (...all: string[]) => ['Host: a', 'Connection: close', ...all].join('\r\n');

it('an answer is compressed where the client accepts it, and either form has 304', async () => {
  const { front } = await startFront();
  front.passTo(await startWorker());
  const gzip = lines('Accept-Encoding: gzip, br');
  const [plain, packed] = [
    await ask(front.url, `GET /a HTTP/1.1\r\n${lines()}`),
    await ask(front.url, `GET /a HTTP/1.1\r\n${gzip}`),
  ];
  expect([plain.body, plain.header('etag'), ...plain.headers('vary')]).toEqual([
    LONG,
    ETAG,
    'Accept, Accept-Encoding',
  ]);
  expect(gunzipSync(Buffer.from(packed.body, 'latin1')).toString()).toBe(LONG);
  expect(packed.body.length).toBe(Number(packed.header('content-length')));
  expect(['etag', 'vary', 'content-encoding'].flatMap(packed.headers)).toEqual([
    `W/${ETAG}`,
    'Accept, Accept-Encoding',
    'gzip',
  ]);
  for (const etag of [ETAG, `W/${ETAG}`]) {
    const kept = await ask(front.url, `GET /a HTTP/1.1\r\n${gzip}\r\nIf-None-Match: ${etag}`);
    expect([kept.status, kept.body, kept.header('vary')]).toEqual([304, '', 'Accept-Encoding']);
  }
});

it.each(['/short', '/block'])('%s is not compressed', async (path) => {
  const { front } = await startFront();
  front.passTo(await startWorker());
  const answer = await ask(front.url, `GET ${path} HTTP/1.1\r\n${lines('Accept-Encoding: gzip')}`);
  expect(answer.header('content-encoding')).toBe(undefined);
  expect(answer.header('etag')).toBe(ETAG);
});

it('fetch reads answers of both forms, however many connections ask', async () => {
  const { front } = await startFront();
  front.passTo(await startWorker());
  const texts = Array.from({ length: 30 }, async (_, i) => {
    const response = await fetch(new URL(i % 3 === 0 ? '/block' : '/a', front.url));
    return response.text();
  });
  expect(new Set(await Promise.all(texts))).toEqual(new Set([LONG]));
});

it('16 MB are compressed at once, of clients that have gone too; others are sent as they are', async () => {
  const body = Buffer.alloc(8 << 20, 'x');
  const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n`;
  const request = { isHead: false, acceptsGzip: true } as RequestHead;
  const asIs: number[] = [];
  const ends = Array.from({ length: 6 }, (_, i) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    let written = 0;
    const answer = createAnswer({
      write: (bytes) => (written += bytes.length),
      onHead: () => false,
      onEnd: () => resolve(written),
    });
    answer.expect(request);
    answer.push(Buffer.from(head));
    answer.push(body);
    return promise.then((bytes) => {
      if (bytes > body.length) asIs.push(i);
    });
  });
  await Promise.all(ends);
  expect(asIs.sort()).toEqual([2, 3, 4, 5]);
});

it('HTTP/1.0 is answered, and the end of the connection is that of the answer', async () => {
  const { front } = await startFront();
  front.passTo(await startWorker());
  const answer = await ask(front.url, 'GET /a HTTP/1.0');
  expect([answer.status, answer.header('connection'), answer.body]).toEqual([200, 'close', LONG]);
});

it('an answer without a length is a fault of ours: 500, and the connection ends', async () => {
  const { front } = await startFront();
  front.passTo(await served(createHttp((_, response) => response.write('chunk'))));
  const client = await open(front, GET);
  await settled(() => expect(client.isOpen()).toBe(false));
  expect(client.received()).toMatch(/^HTTP\/1\.1 500 .*"internal server error"}}$/s);
});

it('HEAD has no body, of a refusal neither', async () => {
  const { front } = await startFront();
  front.passTo(await startWorker());
  for (const [path, status] of [
    ['/a', 200],
    ['/short', 200],
    ['/../a', 404],
  ] as const) {
    const answer = await ask(front.url, `HEAD ${path} HTTP/1.1\r\n${lines()}`);
    expect([answer.status, answer.body]).toEqual([status, '']);
  }
});

it.each([
  ['CONNECT x:443 HTTP/1.1', 405],
  ['FOO / HTTP/1.1', 405],
  ['GET / HTTP/1.1\r\nUpgrade: websocket', 400],
  ['GET / HTTP/3', 400],
])('%j is refused by JSON with CORS', async (line, status) => {
  const { front } = await startFront();
  front.passTo(await startEcho());
  const answer = await ask(
    front.url,
    `${line}\r\nSec-WebSocket-Version: 13\r\nConnection: Upgrade\r\nHost: a`,
  );
  expect([answer.status, answer.header('access-control-allow-origin')]).toEqual([status, '*']);
  expect(JSON.parse(answer.body)).toMatchObject({ error: { code: status } });
});

it('what is behind Connection: close is not answered', async () => {
  const { front } = await startFront();
  const seen: string[] = [];
  front.passTo(
    await served(
      createHttp((request, response) => {
        seen.push(request.url!);
        response.end();
      }),
    ),
  );
  const last = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  const client = await open(front, GET + last + GET.replace('/health', '/behind'));
  await settled(() => expect(client.isOpen()).toBe(false));
  expect(client.received().match(/200 OK/g)).toHaveLength(2);
  expect(seen).toEqual(['/health', '/health']);
});

it('an answer that is broken off is seen to be: the connection is reset', async () => {
  const { front } = await startFront();
  const waiting: ServerResponse[] = [];
  front.passTo(
    await served(
      createHttp((_, response) => {
        response.setHeader('content-length', 8);
        response.write('half');
        waiting.push(response);
      }),
    ),
  );
  const client = await open(front, GET);
  await settled(() => expect(client.received()).toMatch(/half/));
  waiting[0]!.destroy();
  await settled(() => expect(client.isOpen()).toBe(false));
  expect(client.received()).toMatch(/Content-Length: 8\r\n.*half$/is);
});

it('of answers that nobody reads, the client that holds most loses some', {
  timeout: 60_000,
}, async () => {
  const { front } = await startFront(200, 64 << 20);
  const body = Buffer.alloc(4 << 20, 'x');
  front.passTo(await served(createHttp((_, response) => response.end(body))));
  const theirs = [];
  for (let i = 0; i < 60; i++) {
    const client = await open(front, GET, '127.0.0.3');
    client.socket.pause();
    theirs.push(client);
  }
  const honest = await open(front, GET, '127.0.0.2');
  await settled(() => expect(honest.received().length).toBeGreaterThan(body.length));
  // 60 of 4 MB are in the front, in the kernel, and not read: 64 MB may be
  for (let i = 0; i < 100 && theirs.filter((each) => each.isOpen()).length > 20; i++) {
    // one that is paused does not see that it was reset
    for (const each of theirs) each.socket.write('\r\n');
    await sleep(100);
  }
  expect(theirs.filter((each) => each.isOpen()).length).toBeLessThanOrEqual(20);
  expect(honest.isOpen()).toBe(true);
});

it('a client has a minute to read its answer, however short it may wait for one', {
  timeout: 60_000,
}, async () => {
  const { front, time } = await startFront();
  const body = Buffer.alloc(6 << 20, 'x');
  let taken = 0;
  front.passTo(
    await served(createHttp((_, response) => void response.end(body, () => (taken += 1)))),
  );
  const [slow, dead] = [await open(front, GET), await open(front, GET)];
  for (const { socket } of [slow, dead]) socket.pause();
  await vi.waitFor(() => expect(taken).toBe(2), 20_000);
  time.ahead = 20_000;
  await sleep(1500);
  slow.socket.resume();
  await vi.waitFor(() => expect(slow.received().length).toBeGreaterThan(body.length), 20_000);
  time.ahead = 100_000;
  await vi.waitFor(() => {
    // it reads nothing, so it sees the reset when it writes
    dead.socket.write(GET);
    expect(dead.isOpen()).toBe(false);
  }, 20_000);
});

it('a client that reads a megabyte in 25 seconds is not late, however long its answer is', {
  timeout: 60_000,
}, async () => {
  const { front, time } = await startFront();
  const body = Buffer.alloc(32 << 20, 'x');
  front.passTo(await served(createHttp((_, response) => void response.end(body))));
  const { socket, received, isOpen } = await open(front, GET);
  socket.on('data', () => {
    if (received().length >= allowed) socket.pause();
  });
  let allowed = 1;
  for (let i = 0; i < 5; i++) {
    await vi.waitFor(() => expect(received().length).toBeGreaterThanOrEqual(allowed), 20_000);
    allowed += 1 << 20;
    socket.resume();
    time.ahead += 25_000;
    // until the front has looked who is late
    await sleep(1100);
  }
  expect(isOpen()).toBe(true);
  allowed = Number.POSITIVE_INFINITY;
  socket.resume();
  await vi.waitFor(() => expect(received().length).toBeGreaterThan(body.length), 20_000);
});

it('answers that come while the node ends are whole, and nobody is accepted', async () => {
  const { front } = await startFront();
  const waiting: ServerResponse[] = [];
  front.passTo(await served(createHttp((_, response) => void waiting.push(response))));
  const idle = await open(front);
  const asked = await open(front, GET);
  await settled(() => expect(waiting).toHaveLength(1));
  const drained = front.drain();
  // what was sent just before
  const late = await new Promise<Socket>((resolve) => {
    idle.socket.write(GET, () => resolve(idle.socket));
  });
  await settled(() => expect(waiting).toHaveLength(2));
  for (const each of waiting) each.end('whole');
  await drained;
  expect([asked.received(), idle.received()]).toEqual([
    expect.stringMatching(/Connection: close.*whole/s),
    expect.stringMatching(/Connection: close.*whole/s),
  ]);
  expect(late.destroyed).toBe(true);
  await expect(open(front)).rejects.toThrow('ECONNREFUSED');
});

it('a client that never closes after an answer is reset', async () => {
  const { front, time } = await startFront();
  front.passTo(await startEcho());
  const accepted: Socket[] = [];
  createServer((socket) => accepted.push(socket));
  const client = await open(front, GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  await settled(() => expect(client.received()).toMatch(/200 OK/));
  time.ahead = 61_000;
  await settled(() => expect(client.isOpen()).toBe(false));
});

// each is reckoned with 256 KB of zlib
it('of many answers at once some are compressed, and the others are sent as they are', async () => {
  const heads: string[] = [];
  const body = Buffer.alloc(100_000, 'a');
  const done = Array.from({ length: 50 }, (_, i) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const write = (bytes: Buffer | string) => {
      heads[i] ??= bytes.toString();
    };
    const answer = createAnswer({ write, onHead: () => false, onEnd: resolve });
    answer.expect({ acceptsGzip: true } as RequestHead);
    const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}`;
    answer.push(Buffer.from(`${head}\r\n\r\n`));
    answer.push(body);
    return promise;
  });
  await Promise.all(done);
  expect(heads.filter((head) => head.includes('Content-Encoding: gzip'))).toHaveLength(47);
  expect(heads.filter((head) => head.includes(`Content-Length: ${body.length}`))).toHaveLength(3);
});

it('an error of workerd itself is one of the contract', async () => {
  const { front } = await startFront();
  front.passTo(
    await served(
      createHttp((_, response) => {
        response.writeHead(500, { 'content-length': 21 });
        response.end('Internal Server Error');
      }),
    ),
  );
  for (const head of ['GET / HTTP/1.1\r\nHost: a', `GET / HTTP/1.1\r\n${lines()}`]) {
    const { status, header, body } = await ask(front.url, head);
    expect([status, header('access-control-allow-origin'), JSON.parse(body)]).toEqual([
      500,
      '*',
      { error: { code: 500, message: 'internal server error' } },
    ]);
  }
});
