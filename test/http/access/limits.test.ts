import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createWorkLimit } from '../../../src/http/access/limits.ts';
import { jsonAnswer } from '../../../src/http/answer.ts';
import type { Route } from '../../../src/http/route.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';

/** Each is a request of its own for the cache. */
const scanOf = (index: number) => `/api/core/v2/milestones/by-index/${index}/utxo-changes`;

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

  it('run one at a time where one isolate answers everything', async () => {
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
    const all = [scan(() => promise)];
    for (let i = 0; i < 8; i++) {
      all.push(
        explanation(() => {
          explained++;
          return promise;
        }),
        gallery(() => {
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

  it('run beside each other elsewhere', async () => {
    const { fetch, most } = scanning(false);
    await Promise.all(Array.from({ length: 16 }, (_, i) => fetch(scanOf(i + 1))));
    expect(most()).toBe(16);
  });

  it('are refused when they have waited for two seconds', async () => {
    const limit = createWorkLimit(Date.now, 'scan');
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = limit(() => promise);
    await expect(limit(async () => {})).rejects.toMatchObject({
      status: 429,
      headers: { 'retry-after': '2' },
    });
    resolve();
    await first;
    expect(await limit(async () => 'next')).toBe('next');
  });

  it('go on where one was dropped without a word, and whatever the clock does', async () => {
    let now = 1_000_000_000;
    for (const step of [5000, 3_600_000, -3_600_000]) {
      const limit = createWorkLimit(() => now, 'scan');
      void limit(() => new Promise(() => {}));
      now += step;
      expect(await limit(async () => 'next')).toBe('next');
    }
  });

  it('do not count those that were dropped without a word', async () => {
    let now = 1_000_000_000;
    const limit = createWorkLimit(() => now, 'explanation');
    // nothing calls a request that was dropped
    const never = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(0 as never);
    for (let i = 0; i < 300; i++) limit(() => new Promise(() => {})).catch(() => {});
    never.mockRestore();
    now += 60_000;
    expect(await limit(async () => 'next')).toBe('next');
  });

  it('are served in the order in which they came, also past one that was dropped', async () => {
    const limit = createWorkLimit(Date.now, 'scan');
    const served: number[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const all = [limit(() => promise)];
    for (let i = 0; i < 50; i++) {
      all.push(limit(async () => void served.push(i)));
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
    for (let i = 0; i < 10; i++) await Promise.all([limit(scan), vi.advanceTimersByTimeAsync(40)]);
    const refused: number[] = [];
    const began = Date.now();
    const asked = Array.from({ length: 300 }, () =>
      limit(scan).then(
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

  it('that fail make room too', async () => {
    const limit = createWorkLimit(() => 0, 'scan');
    await expect(limit(() => Promise.reject(new Error('D1')))).rejects.toThrow('D1');
    expect(await limit(async () => 'next')).toBe('next');
  });
});
