/** Answers to GET that `npm run serve` keeps in memory. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Answer, jsonAnswer } from '../../src/http/answer.ts';
import { IMMUTABLE } from '../../src/http/content-negotiation.ts';
import { ledgerAnswer } from '../../src/http/ledger-answer.ts';
import { createReadCache } from '../../src/http/read-cache.ts';
import type { RequestNotes, Route } from '../../src/http/route.ts';

const GET: Route = { method: 'GET', path: '/', handle: async () => jsonAnswer({}) };

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
    handle: (request: Request) => Answer = (request) =>
      ledgerAnswer(request, { ledgerIndex: server.ledger }, `${server.ledger}`),
  ) => {
    const notes: RequestNotes = {};
    const request = new Request(`https://edge.invalid${path}`, { headers });
    const answer = await cache.answer(route, request, notes, async (passed) => {
      server.handled++;
      notes.ledgerIndex = server.ledger;
      return handle(passed);
    });
    return { ...answer, status: answer.status ?? 200, ledgerIndex: notes.ledgerIndex };
  };
  return { server, cache, fetchFrom };
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

  it('is kept no longer if the clock is set back', async () => {
    const { server, fetchFrom } = createServer();
    await fetchFrom('/a');
    server.now -= 3_600_000;
    await fetchFrom('/a');
    expect(server.handled).toBe(2);
  });

  it('is another one for another query and another Accept', async () => {
    const { server, fetchFrom } = createServer();
    await fetchFrom('/a?x=1');
    await fetchFrom('/a?x=2');
    await fetchFrom('/a?x=2', { accept: 'application/vnd.iota.serializer-v1' });
    expect(server.handled).toBe(3);
  });

  it('is not from memory for a client that has seen a later ledger', async () => {
    const { server, fetchFrom } = createServer();
    await fetchFrom('/a');
    server.ledger = 2;
    const asked = await fetchFrom('/a', { 'x-min-ledger-index': '2' });
    expect([asked.ledgerIndex, asked.headers!['cache-control']]).toEqual([2, 'no-store']);
    // nor is that answer kept
    expect((await fetchFrom('/a')).ledgerIndex).toBe(1);
  });

  it('is 304 for a client that has it, whether it is kept or not', async () => {
    const { server, fetchFrom } = createServer();
    const tag = { 'if-none-match': 'W/"1"' };
    const missed = await fetchFrom('/a', tag);
    const hit = await fetchFrom('/a', tag);
    expect([missed.status, hit.status, missed.body, hit.body]).toEqual([304, 304, null, null]);
    expect(hit.headers).toEqual(missed.headers);
    expect(hit.headers).not.toHaveProperty('content-type');
    expect((await fetchFrom('/a', { 'if-none-match': 'W/"0"' })).status).toBe(200);
    expect(server.handled).toBe(1);
  });
});

it('what never changes is kept until it is evicted', async () => {
  const { server, cache, fetchFrom } = createServer(GET, 5000);
  const bytes = () => ({ body: new Uint8Array(1000), headers: IMMUTABLE });
  await fetchFrom('/a', {}, bytes);
  server.now += 1e12;
  await fetchFrom('/a', {}, bytes);
  expect(server.handled).toBe(1);
  for (let i = 0; i < 100; i++) {
    await fetchFrom(`/${i}`, {}, bytes);
    expect(cache.bytes).toBeLessThanOrEqual(5000);
  }
  await fetchFrom('/a', {}, bytes);
  expect(server.handled).toBe(102);
});

it('what an index names is kept until an import replaces the ledger', async () => {
  const { server, fetchFrom } = createServer({ ...GET, namesIndex: true });
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

it('a generation that could not be read is looked up again for the next request', async () => {
  let fails = true;
  const readGeneration = async () => {
    if (fails) throw new Error('D1_ERROR: gone');
    return 'a';
  };
  const cache = createReadCache(() => 1_000_000, readGeneration);
  const ask = () => {
    const request = new Request('https://edge.invalid/a');
    return cache.answer({ ...GET, namesIndex: true }, request, {}, async () => jsonAnswer({}));
  };
  await expect(ask()).rejects.toThrow('gone');
  fails = false;
  expect((await ask()).body).toBe('{}');
});

it('what was read while an import ended is not taken for what was there before', async () => {
  const { server, fetchFrom } = createServer({ ...GET, namesIndex: true });
  const handle = () => jsonAnswer({ of: server.generation });
  await fetchFrom('/a', {}, () => {
    server.generation = 'b';
    return jsonAnswer({ of: 'a' });
  });
  server.now += 1000;
  expect((await fetchFrom('/a', {}, handle)).body).toBe('{"of":"b"}');
});

describe('nothing is kept', () => {
  it.each([
    ['that is not 200', () => ({ ...jsonAnswer({}, IMMUTABLE), status: 503 })],
    ['that caches may not keep', () => jsonAnswer({}, { 'cache-control': 'no-store' })],
    ['that says nothing to caches', () => jsonAnswer({})],
  ])('%s', async (_name, handle) => {
    const { server, fetchFrom } = createServer();
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
  const { server, fetchFrom } = createServer({ ...GET, mayBeSecondOld: true });
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
