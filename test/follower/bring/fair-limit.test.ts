/** The shares of clients in what the follower's object does for requests (src/follower/bring/fair-limit.ts). */
import { expect, it } from 'vitest';
import { createFairLimit } from '../../../src/follower/bring/fair-limit.ts';

/** Work that ends when it is told to; and the order in which it began. */
function createWork(options: { ofClient: number; places: number; waiting: number }) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const limit = createFairLimit({ ...options, refuse: () => new Error('refused') });
  return {
    begun,
    add: (client: string, name: string) =>
      limit(client, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        return name;
      }),
    async endAll() {
      for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
        end();
        await new Promise((resolve) => setTimeout(resolve));
      }
    },
  };
}

it('clients take turns, and one has no more than its share', async () => {
  const { begun, add, endAll } = createWork({ ofClient: 2, places: 3, waiting: 100 });
  const done = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => add('a', name));
  done.push(add('b', 'b1'), add('b', 'b2'), add('c', 'c1'));
  await new Promise((resolve) => setTimeout(resolve));
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await endAll();
  expect(await Promise.all(done)).toHaveLength(8);
  expect(begun.indexOf('c1')).toBeLessThan(begun.indexOf('a4'));
  expect(begun.indexOf('b2')).toBeLessThan(begun.indexOf('a5'));
});

it('where too much waits, the client with most of it loses its newest', async () => {
  const { begun, add, endAll } = createWork({ ofClient: 1, places: 1, waiting: 3 });
  const flood = ['a1', 'a2', 'a3', 'a4'].map((name) => add('a', name));
  const refused = expect(flood[3]).rejects.toThrow('refused');
  const other = add('b', 'b1');
  await refused;
  await endAll();
  expect(await other).toBe('b1');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});

it('work that fails gives its place to the next', async () => {
  const limit = createFairLimit({ ofClient: 1, places: 1, waiting: 2, refuse: () => new Error() });
  const failing = limit('a', () => Promise.reject(new Error('down')));
  const next = limit('a', async () => 'next');
  await expect(failing).rejects.toThrow('down');
  expect(await next).toBe('next');
});
