/** Answers to GET that `npm run serve` keeps in memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Answer, jsonAnswer } from '../../src/http/answer.ts';
import { HttpError } from '../../src/http/errors.ts';
import { objectAnswer } from '../../src/http/ledger-answer.ts';
import { createReadCache } from '../../src/http/read-cache.ts';
import type { Route } from '../../src/http/route.ts';

const GET: Route = { method: 'GET', path: '/', keep: 'ledger', handle: async () => jsonAnswer({}) };

/** A cache, its clock, and a node whose answers name the ledger index that it is at. */
function createServer(route = GET, maxBytes = 100_000) {
  const server = { now: 1_000_000, ledger: 1, generation: 'a', handled: 0, looked: 0 };
  const readGeneration = async () => {
    server.looked++;
    return server.generation;
  };
  const cache = createReadCache(() => server.now, readGeneration, maxBytes);
  const fetchFrom = async (
    path: string,
    headers: Record<string, string> = {},
    handle: (request: Request) => Answer | Promise<Answer> = (request) =>
      objectAnswer(request, server.ledger, { ledgerIndex: server.ledger }, 'state'),
  ) => {
    const request = new Request(`https://edge.invalid${path}`, { headers });
    const answer = await cache.answer(
      route,
      request,
      {},
      async (passed) => {
        server.handled++;
        await sleep(0);
        const ledgerIndex = server.ledger;
        return { ledgerIndex, ...(await handle(passed)) };
      },
      () => {},
    );
    return { ...answer, status: answer.status ?? 200 };
  };
  return { server, fetchFrom };
}

describe('an answer that names its ledger index', () => {
  it('is kept for a second, with that index', async () => {
    const { server, fetchFrom } = createServer();
    const first = await fetchFrom('/a');
    server.ledger = 2;
    server.now += 999;
    expect(await fetchFrom('/a')).toEqual(first);
    expect(first.ledgerIndex).toBe(1);
    server.now += 1;
    expect((await fetchFrom('/a')).ledgerIndex).toBe(2);
    expect(server.handled).toBe(2);
  });

  it('is not replaced by one whose reading began before', async () => {
    const { server, fetchFrom } = createServer();
    const older = fetchFrom('/a', {}, async () => {
      server.ledger = 2;
      server.now += 100;
      await fetchFrom('/a');
      return jsonAnswer({});
    });
    expect((await older).ledgerIndex).toBe(1);
    expect((await fetchFrom('/a')).ledgerIndex).toBe(2);
  });

  it('is kept no longer if the clock is set back', async () => {
    const { server, fetchFrom } = createServer();
    await fetchFrom('/a');
    server.now -= 3_600_000;
    await fetchFrom('/a');
    expect(server.handled).toBe(2);
  });

  it('is gone once a clock that was set back is at its time again', async () => {
    const { server, fetchFrom } = createServer();
    await fetchFrom('/a');
    server.now -= 3_600_000;
    await fetchFrom('/b');
    server.ledger = 700;
    server.now += 3_600_000;
    expect((await fetchFrom('/a')).ledgerIndex).toBe(700);
  });

  it('is another one for another query and another Accept', async () => {
    const { server, fetchFrom } = createServer();
    await fetchFrom('/a?x=1');
    await fetchFrom('/a?x=2');
    await fetchFrom('/a?x=2', { accept: 'application/vnd.iota.serializer-v1' });
    expect(server.handled).toBe(3);
  });

  it('is from memory for a client that requires its index or an earlier one', async () => {
    const { server, fetchFrom } = createServer();
    server.ledger = 5;
    const first = await fetchFrom('/a', { 'x-min-ledger-index': '5' });
    expect(first.ledgerIndex).toBe(5);
    for (const minimum of ['0', '4', '5']) {
      const asked = await fetchFrom('/a', { 'x-min-ledger-index': minimum });
      expect([asked.ledgerIndex, asked.body]).toEqual([5, first.body]);
    }
    expect((await fetchFrom('/a')).body).toBe(first.body);
    expect(server.handled).toBe(1);
  });

  it('is not from memory for a client that has seen a later ledger', async () => {
    const { server, fetchFrom } = createServer();
    await fetchFrom('/a');
    server.ledger = 2;
    expect((await fetchFrom('/a', { 'x-min-ledger-index': '2' })).ledgerIndex).toBe(2);
    // nor does it get the old one back
    expect((await fetchFrom('/a')).ledgerIndex).toBe(2);
    server.now += 1000;
    await fetchFrom('/a', { 'x-min-ledger-index': '1' });
    expect(server.handled).toBe(3);
  });

  it('is not from memory where the minimum is no number', async () => {
    const { server, fetchFrom } = createServer();
    await fetchFrom('/a');
    await fetchFrom('/a', { 'x-min-ledger-index': 'x' });
    expect(server.handled).toBe(2);
  });

  it('is 304 for a client that has it, whether it is kept or not', async () => {
    const { server, fetchFrom } = createServer();
    const tag = { 'if-none-match': 'W/"1-state"' };
    const missed = await fetchFrom('/a', tag);
    const hit = await fetchFrom('/a', tag);
    expect([missed.status, hit.status, missed.body, hit.body]).toEqual([304, 304, null, null]);
    expect(hit.headers).toEqual(missed.headers);
    expect(hit.headers).not.toHaveProperty('content-type');
    expect((await fetchFrom('/a', { 'if-none-match': 'W/"0-state"' })).status).toBe(200);
    expect(server.handled).toBe(1);
  });

  it('has the tag of its state for a client that requires an index, kept or not', async () => {
    const { server, fetchFrom } = createServer();
    const required = { 'x-min-ledger-index': '1' };
    const tagOf = async (headers?: Record<string, string>) =>
      (await fetchFrom('/a', headers)).headers?.etag;
    const tags = [await tagOf(required), await tagOf(), await tagOf(required), await tagOf()];
    expect(tags).toEqual(['W/"state"', 'W/"1-state"', 'W/"state"', 'W/"1-state"']);
    const later = { ...required, 'if-none-match': 'W/"state"' };
    expect((await fetchFrom('/a', later)).status).toBe(304);
    expect(server.handled).toBe(1);
    server.ledger = 2;
    server.now += 1000;
    expect(await fetchFrom('/a', later)).toMatchObject({ status: 304, ledgerIndex: 2 });
  });
});

describe('scans at the same moment', () => {
  const SCAN: Route = { ...GET, limit: 'scanLimit' };

  it('are one scan where they are asked for in the same words', async () => {
    const { server, fetchFrom } = createServer(SCAN);
    const minimum = { 'x-min-ledger-index': '1' };
    const answers = await Promise.all(Array.from({ length: 100 }, () => fetchFrom('/a', minimum)));
    expect(answers.map(({ status, ledgerIndex }) => [status, ledgerIndex])).toEqual(
      answers.map(() => [200, 1]),
    );
    expect(server.handled).toBe(1);
    await Promise.all([fetchFrom('/a?x'), fetchFrom('/b'), fetchFrom('/c', minimum)]);
    expect(server.handled).toBe(4);
  });

  it('have the same error, and the next request asks again', async () => {
    const { server, fetchFrom } = createServer(SCAN);
    const fail = () => {
      throw new Error('no');
    };
    const results = await Promise.allSettled([1, 2, 3].map(() => fetchFrom('/a', {}, fail)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(server.handled).toBe(1);
    expect((await fetchFrom('/a')).status).toBe(200);
  });

  it('are not refused with one that is: it may wait behind others of its own client', async () => {
    const { server, fetchFrom } = createServer(SCAN);
    const refuse = () => {
      throw new HttpError(429, 'too many requests wait: scan');
    };
    const refused = fetchFrom('/a', {}, refuse);
    const answers = Promise.all([fetchFrom('/a'), fetchFrom('/a')]);
    await expect(refused).rejects.toMatchObject({ status: 429 });
    expect((await answers).map(({ status }) => status)).toEqual([200, 200]);
    expect(server.handled).toBe(2);
  });

  it('are not refused with several of one client that asked before', async () => {
    const { server, fetchFrom } = createServer(SCAN);
    const ask = (client: string) =>
      fetchFrom('/a', { 'cf-connecting-ip': client }, (request) => {
        if (client === '192.0.2.1') throw new HttpError(429, 'too many requests wait: scan');
        return objectAnswer(request, 1, {}, 'state');
      });
    const clients = [...new Array<string>(4).fill('192.0.2.1'), '198.51.100.7', '203.0.113.9'];
    const results = await Promise.allSettled(clients.map(ask));
    const said = results.map(({ status }) => status);
    expect(said.slice(4)).toEqual(['fulfilled', 'fulfilled']);
    expect(said.slice(0, 2)).toEqual(['rejected', 'rejected']);
    expect(server.handled).toBe(3);
  });

  it('wait for refusals of three other clients, and no more', async () => {
    const { server, fetchFrom } = createServer(SCAN);
    let [done, atOnce] = [0, 0];
    const ask = (client: string) =>
      fetchFrom('/a', { 'cf-connecting-ip': client }, (request) => {
        atOnce = Math.max(atOnce, server.handled - done++);
        if (client !== '203.0.113.9') throw new HttpError(429, 'too many requests wait: scan');
        return objectAnswer(request, 1, {}, 'state');
      });
    const strangers = Array.from({ length: 20 }, (_, i) => `192.0.${i}.1`);
    const results = await Promise.allSettled([...strangers, '203.0.113.9'].map(ask));
    expect(results.map(({ status }) => status)).toEqual([
      ...strangers.map(() => 'rejected'),
      'fulfilled',
    ]);
    expect(atOnce).toBe(strangers.length + 1 - 3);
  });

  it('are not 404 with one that read the ledger before it came to the index of both', async () => {
    const { server, fetchFrom } = createServer(SCAN);
    const minimum = { 'x-min-ledger-index': '2' };
    const early = fetchFrom('/a', minimum, () => {
      server.ledger = 2;
      throw new HttpError(404, 'the ledger is at 1');
    });
    const answers = Promise.all([fetchFrom('/a', minimum), fetchFrom('/a', minimum)]);
    await expect(early).rejects.toMatchObject({ status: 404 });
    expect((await answers).map(({ ledgerIndex }) => ledgerIndex)).toEqual([2, 2]);
    expect(server.handled).toBe(2);
    const unknown = () => {
      throw new HttpError(404, 'no such NFT');
    };
    const all = Array.from({ length: 100 }, () => fetchFrom('/b', {}, unknown));
    expect((await Promise.allSettled(all)).every(({ status }) => status === 'rejected')).toBe(true);
    expect(server.handled).toBe(4);
  });

  it('are one scan again for all who joined one that is refused', async () => {
    const { server, fetchFrom } = createServer(SCAN);
    const refuse = () => {
      throw new HttpError(429, 'too many requests wait: scan');
    };
    const refused = fetchFrom('/a', {}, refuse);
    const answers = Array.from({ length: 100 }, () => fetchFrom('/a'));
    await expect(refused).rejects.toMatchObject({ status: 429 });
    expect((await Promise.all(answers)).every(({ status }) => status === 200)).toBe(true);
    expect(server.handled).toBe(2);
    const all = Array.from({ length: 100 }, () => fetchFrom('/b', {}, refuse));
    expect((await Promise.allSettled(all)).every(({ status }) => status === 'rejected')).toBe(true);
    expect(server.handled).toBe(4);
  });
});

it('a page that names the origin is another one for each', async () => {
  const cache = createReadCache(Date.now, async () => undefined);
  const page: Route = { ...GET, keep: 'second' };
  const from = async (origin: string) =>
    (
      await cache.answer(
        page,
        new Request(origin),
        {},
        async ({ url }) => ({ body: url }),
        () => {},
      )
    ).body;
  expect(await from('https://evil.example/')).toBe('https://evil.example/');
  expect(await from('https://edge.example/')).toBe('https://edge.example/');
});

it('what never changes is kept until it is evicted', async () => {
  const { server, fetchFrom } = createServer(GET, 5000);
  const bytes = (): Answer => ({ keep: 'id', body: new Uint8Array(1000) });
  await fetchFrom('/a', {}, bytes);
  server.now += 1e12;
  await fetchFrom('/a', {}, bytes);
  expect(server.handled).toBe(1);
  for (let i = 0; i < 100; i++) await fetchFrom(`/${i}`, {}, bytes);
  await fetchFrom('/a', {}, bytes);
  expect(server.handled).toBe(102);
  // of 1,600 bytes each, three fit
  for (const i of [98, 99]) await fetchFrom(`/${i}`, {}, bytes);
  expect(server.handled).toBe(102);
  await fetchFrom('/97', {}, bytes);
  expect(server.handled).toBe(103);
});

it('what an index names is kept until an import replaces the ledger', async () => {
  const { server, fetchFrom } = createServer({ ...GET, keep: 'index' });
  const handle = () => jsonAnswer({ of: server.generation });
  const first = await fetchFrom('/a', {}, handle);
  for (let i = 0; i < 100; i++) {
    server.now += 500;
    expect(await fetchFrom('/a', {}, handle)).toEqual(first);
  }
  expect(server.handled).toBe(1);
  expect(server.looked).toBeLessThan(55);
  server.generation = 'b';
  server.now += 1000;
  expect((await fetchFrom('/a', {}, handle)).body).toBe('{"of":"b"}');
});

it('a generation that could not be read is no error of a request that needs none', async () => {
  let [now, fails, looked] = [1_000_000, true, 0];
  const readGeneration = async () => {
    looked++;
    if (fails) throw new Error('D1_ERROR: gone');
    return 'a';
  };
  const cache = createReadCache(() => now, readGeneration);
  const ask = () => {
    const request = new Request('https://edge.invalid/a');
    const route: Route = { ...GET, keep: 'index' };
    return cache.answer(
      route,
      request,
      {},
      async () => jsonAnswer({}),
      () => {},
    );
  };
  expect((await ask()).body).toBe('{}');
  // it is looked up again, and what was kept without it ends
  now += 1000;
  fails = false;
  await ask();
  await ask();
  expect(looked).toBe(2);
});

it('the generation that one looks up for ever, its client gone, keeps nobody else waiting', async () => {
  let looked = 0;
  const readGeneration = async () => (looked++ === 0 ? await new Promise<never>(() => {}) : 'a');
  const cache = createReadCache(Date.now, readGeneration);
  const route: Route = { ...GET, keep: 'index' };
  const ask = () => {
    const request = new Request('https://edge.invalid/a');
    return cache.answer(
      route,
      request,
      {},
      async () => jsonAnswer({}),
      () => {},
    );
  };
  void ask();
  expect((await ask()).body).toBe('{}');
});

it.each([0, 1000])(
  'what was read in %i ms while an import ended is of the ledger before',
  async (ms) => {
    const { server, fetchFrom } = createServer({ ...GET, keep: 'index' });
    const handle = () => jsonAnswer({ of: server.generation });
    await fetchFrom('/a', {}, () => {
      server.generation = 'b';
      server.now += ms;
      return jsonAnswer({ of: 'a' });
    });
    server.now += 1000;
    expect((await fetchFrom('/a', {}, handle)).body).toBe('{"of":"b"}');
  },
);

describe('nothing is kept', () => {
  it.each([
    ['that is not 200', GET, { keep: 'id', status: 503 }],
    ['that may not be kept unlike others of its route', GET, { keep: 'none' }],
    ['of a route that says nothing', { ...GET, keep: undefined }, {}],
  ] as [string, Route, Partial<Answer>][])('%s', async (_name, route, others) => {
    const { server, fetchFrom } = createServer(route);
    const handle = () => jsonAnswer({}, others);
    await fetchFrom('/a', {}, handle);
    await fetchFrom('/a', {}, handle);
    expect(server.handled).toBe(2);
  });

  it('of an error', async () => {
    const { server, fetchFrom } = createServer();
    const fail = () => {
      throw new Error('no');
    };
    await expect(fetchFrom('/a', {}, fail)).rejects.toThrow('no');
    expect((await fetchFrom('/a')).status).toBe(200);
    expect(server.handled).toBe(2);
  });

  it('of POST', async () => {
    const { server, fetchFrom } = createServer({ ...GET, method: 'POST' });
    await fetchFrom('/a');
    await fetchFrom('/a');
    expect(server.handled).toBe(2);
  });
});

it('a route may allow a second where caches may not', async () => {
  const { server, fetchFrom } = createServer({ ...GET, keep: 'second' });
  const handle = () => jsonAnswer({ ledger: server.ledger });
  await fetchFrom('/a', {}, handle);
  await fetchFrom('/a', {}, handle);
  expect(server.handled).toBe(1);
  server.now += 1000;
  await fetchFrom('/a', {}, handle);
  expect(server.handled).toBe(2);
});

it('however requests and milestones follow, no answer is older than a second', async () => {
  const step = fc.record({
    wait: fc.integer({ min: 0, max: 1500 }),
    moves: fc.boolean(),
    path: fc.constantFrom('/a', '/b'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const { server, fetchFrom } = createServer();
      /** Of each ledger index: when it was the newest last. */
      const lastAt = new Map<number, number>();
      for (const { wait, moves, path } of steps) {
        lastAt.set(server.ledger, server.now);
        server.now += wait;
        if (moves) server.ledger++;
        lastAt.set(server.ledger, server.now);
        const { ledgerIndex } = await fetchFrom(path);
        expect(server.now - lastAt.get(ledgerIndex!)!).toBeLessThan(1000);
      }
    }),
  );
});
