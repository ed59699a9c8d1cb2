import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createWorkLimit } from '../../../src/http/access/limits.ts';
import { jsonAnswer } from '../../../src/http/answer.ts';
import type { Route } from '../../../src/http/route.ts';
import { hasRoute } from '../../support/http/has-route.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';

/** Each is a request of its own for the cache. */
const scanOf = (index: number) => `/api/core/v2/milestones/by-index/${index}/utxo-changes`;

const HONEST = '192.0.2.1';
const requestOf = (address: string) =>
  new Request('https://edge.invalid/', { headers: { 'cf-connecting-ip': address } });
const REQUEST = requestOf('198.51.100.1');

describe('requests that scan', () => {
  /** An app whose scans take a while, and the most of them at once. */
  function scanning(oneIsolate: boolean) {
    let [atOnce, most] = [0, 0];
    const route: Route = {
      method: 'GET',
      path: '/api/core/v2/milestones/by-index/:index/utxo-changes',
      limit: 'scanLimit',
      async handle() {
        most = Math.max(most, ++atOnce);
        await sleep(5);
        atOnce--;
        return jsonAnswer({ index: 7, consumedOutputs: [], createdOutputs: [] });
      },
    };
    const modules = [{ name: 'scans', routes: { route } }];
    const fetch = fetchFrom({ settings: { oneIsolate }, modules });
    return { fetch, most: () => most };
  }

  const hasScans = hasRoute(scanOf(1));

  it.runIf(hasScans)('run one at a time where one isolate answers everything', async () => {
    const { fetch, most } = scanning(true);
    const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => fetch(scanOf(i + 1))));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 200));
    expect(most()).toBe(1);
  });

  it('do not take the places of explanations and galleries, of which six run at once', async () => {
    const scan = createWorkLimit(Date.now, 'scan');
    const explanation = createWorkLimit(Date.now, 'explanation');
    const gallery = createWorkLimit(Date.now, 'gallery');
    const { promise, resolve } = Promise.withResolvers<void>();
    let [explained, shown] = [0, 0];
    const all = [scan(REQUEST, () => promise)];
    for (let i = 0; i < 8; i++) {
      all.push(
        explanation(REQUEST, () => {
          explained++;
          return promise;
        }),
        gallery(REQUEST, () => {
          shown++;
          return promise;
        }),
      );
    }
    await sleep(100);
    expect([explained, shown]).toEqual([1, 6]);
    resolve();
    await Promise.all(all);
  });

  it.runIf(hasScans)('run beside each other elsewhere', async () => {
    const { fetch, most } = scanning(false);
    await Promise.all(Array.from({ length: 16 }, (_, i) => fetch(scanOf(i + 1))));
    expect(most()).toBe(16);
  });

  it('are refused when they have waited for two seconds', async () => {
    const limit = createWorkLimit(Date.now, 'scan');
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = limit(REQUEST, () => promise);
    await expect(limit(REQUEST, async () => {})).rejects.toMatchObject({
      status: 429,
      headers: { 'retry-after': '2' },
    });
    resolve();
    await first;
    expect(await limit(REQUEST, async () => 'next')).toBe('next');
  });

  it('go on where one was dropped without a word, and whatever the clock does', async () => {
    let now = 1_000_000_000;
    for (const step of [5000, 3_600_000, -3_600_000]) {
      const limit = createWorkLimit(() => now, 'scan');
      void limit(REQUEST, () => new Promise(() => {}));
      now += step;
      expect(await limit(REQUEST, async () => 'next')).toBe('next');
    }
  });

  it('do not count those that were dropped without a word', async () => {
    let now = 1_000_000_000;
    const limit = createWorkLimit(() => now, 'explanation');
    // nothing calls a request that was dropped
    const never = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(0 as never);
    for (let i = 0; i < 300; i++) limit(REQUEST, () => new Promise(() => {})).catch(() => {});
    never.mockRestore();
    now += 60_000;
    expect(await limit(REQUEST, async () => 'next')).toBe('next');
  });

  it('are served in the order in which they came', async () => {
    const limit = createWorkLimit(Date.now, 'scan');
    const served: number[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const all = [limit(REQUEST, () => promise)];
    for (let i = 0; i < 50; i++) {
      all.push(limit(REQUEST, async () => void served.push(i)));
      await sleep(i % 7);
    }
    resolve();
    await Promise.all(all);
    expect(served).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  it('that could not be served within two seconds are refused when they come', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limit = createWorkLimit(Date.now, 'scan');
    let waiting = 0;
    const scan = () => new Promise((resolve) => setTimeout(resolve, 30));
    for (let i = 0; i < 10; i++)
      await Promise.all([limit(REQUEST, scan), vi.advanceTimersByTimeAsync(40)]);
    const refused: number[] = [];
    const began = Date.now();
    const asked = Array.from({ length: 300 }, () =>
      limit(REQUEST, scan).then(
        () => waiting++,
        () => refused.push(Date.now() - began),
      ),
    );
    await vi.advanceTimersByTimeAsync(20_000);
    const results = await Promise.all(asked);
    expect(results).toHaveLength(300);
    expect(refused.length).toBeGreaterThan(150);
    expect(waiting).toBeGreaterThan(30);
    // but for those whose turn comes a little later than was estimated
    expect(refused.filter((ms) => ms > 500).length).toBeLessThan(refused.length / 4);
  });

  it('take turns by client: one that sends many has nobody else refused or wait long', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limit = createWorkLimit(Date.now, 'scan');
    const scan = () => new Promise((resolve) => setTimeout(resolve, 40));
    const refused: string[] = [];
    const waits: number[] = [];
    const ask = async (address: string) => {
      const began = Date.now();
      try {
        await limit(requestOf(address), scan);
        if (address === HONEST) waits.push(Date.now() - began);
      } catch {
        refused.push(address);
      }
    };
    const all: Promise<void>[] = [];
    for (let i = 0; i < 500; i++) {
      // two networks of one site, and a hundred requests that wait at any time
      all.push(ask(`2001:db8:0:${i % 2}::1`));
      if (i % 10 === 9) all.push(ask(HONEST));
      await vi.advanceTimersByTimeAsync(20);
    }
    await vi.advanceTimersByTimeAsync(20_000);
    await Promise.all(all);
    expect(new Set(refused).has(HONEST)).toBe(false);
    expect(refused.length).toBeGreaterThan(100);
    expect(waits).toHaveLength(50);
    expect(Math.max(...waits)).toBeLessThan(250);
  });

  it('keep their turns where the isolate was busy for long', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limit = createWorkLimit(Date.now, 'scan');
    const served: string[] = [];
    const first = Promise.withResolvers<void>();
    const all = [limit(REQUEST, () => first.promise)];
    const ask = (address: string) =>
      all.push(limit(requestOf(address), async () => void served.push(address)));
    for (let i = 0; i < 20; i++) ask('192.0.2.2');
    ask(HONEST);
    await vi.advanceTimersByTimeAsync(0);
    // nobody looks meanwhile, so the next one to come passes over all
    vi.setSystemTime(Date.now() + 400);
    ask('192.0.2.3');
    first.resolve();
    await vi.advanceTimersByTimeAsync(2000);
    await Promise.all(all);
    expect(served).toHaveLength(22);
    expect(served.indexOf(HONEST)).toBeLessThan(4);
  });

  it('keep their turns where the isolate is busy again and again, and others come', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limit = createWorkLimit(Date.now, 'scan');
    const served: string[] = [];
    const all: Promise<void>[] = [];
    const ask = (address: string) =>
      all.push(
        limit(requestOf(address), async () => {
          served.push(address);
          vi.setSystemTime(Date.now() + 400);
          if (served.length < 20) ask('192.0.2.2');
        }),
      );
    for (let i = 0; i < 3; i++) ask('192.0.2.2');
    ask(HONEST);
    await vi.advanceTimersByTimeAsync(5000);
    await Promise.all(all);
    expect(served.indexOf(HONEST)).toBeLessThan(4);
  });

  it('that take long leave turns to others, and nobody refused once they are over', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limit = createWorkLimit(Date.now, 'explanation');
    let isOver = false;
    /** Asks again and again; returns how often it was served. */
    const goOn = async (address: string, workMs: number, pauseMs: number): Promise<number> => {
      let served = 0;
      while (!isOver) {
        const request = requestOf(address);
        const ask = limit(request, () => new Promise((resolve) => setTimeout(resolve, workMs)));
        await ask.then(
          () => served++,
          () => {},
        );
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      return served;
    };
    // longer than anybody may wait
    const flood = [1, 2, 3].map(() => goOn('198.51.100.1', 4000, 10));
    await vi.advanceTimersByTimeAsync(60_000);
    const honest = goOn(HONEST, 5, 500);
    await vi.advanceTimersByTimeAsync(60_000);
    isOver = true;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await honest).toBeGreaterThan(5);
    expect((await Promise.all(flood)).reduce((all, each) => all + each)).toBeGreaterThan(10);
    const later = [1, 2, 3].map(() => limit(requestOf(HONEST), async () => 'served'));
    await vi.advanceTimersByTimeAsync(100);
    expect(await Promise.all(later)).toEqual(['served', 'served', 'served']);
  });

  const kept = hasScans ? (['none', 'index'] as const) : [];

  it.each(kept)('that others join take the first turn: %s', async (keep) => {
    const served: string[] = [];
    const route: Route = {
      method: 'GET',
      path: '/api/core/v2/milestones/by-index/:index/utxo-changes',
      limit: 'scanLimit',
      keep,
      async handle({ params }) {
        served.push(params.index!);
        await sleep(5);
        return jsonAnswer({ index: 7, consumedOutputs: [], createdOutputs: [] });
      },
    };
    const fetch = fetchFrom({
      settings: { oneIsolate: true },
      modules: [{ name: 'scans', routes: { route } }],
      node: { readGeneration: () => sleep(20, 'a') },
    });
    const ask = (index: number, address: string) =>
      fetch(scanOf(index), { headers: { 'cf-connecting-ip': address } });
    const all = Array.from({ length: 20 }, (_, i) => ask(i, '198.51.100.1'));
    all.push(ask(99, '198.51.100.1'), ask(99, HONEST), ask(99, '192.0.2.2'));
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(served).toHaveLength(21);
    expect(served.indexOf('99')).toBeLessThan(4);
  });

  it('that fail make room too', async () => {
    const limit = createWorkLimit(() => 0, 'scan');
    await expect(limit(REQUEST, () => Promise.reject(new Error('D1')))).rejects.toThrow('D1');
    expect(await limit(REQUEST, async () => 'next')).toBe('next');
  });
});
