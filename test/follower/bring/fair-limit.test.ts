/** The shares of clients in what the follower's object does for requests (src/follower/bring/fair-limit.ts). */
import { expect, it } from 'vitest';
import { createFairLimit } from '../../../src/follower/bring/fair-limit.ts';

/** Work that ends when it is told to; and the order in which it began. */
function createWork(options: { ofKnown?: number; ofStrangers: number; waiting: number }) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const limit = createFairLimit<string>(
    {
      ofKnown: 1,
      maxWaitMs: 60_000,
      ...options,
      refuse: () => new Error('refused'),
    },
    (name) => name.startsWith('good'),
  );
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

const settle = () => new Promise((resolve) => setTimeout(resolve));

it('clients take turns, and one has one at a time', async () => {
  const { begun, add, endAll } = createWork({ ofStrangers: 2, waiting: 100 });
  const done = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => add('a', name));
  done.push(add('b', 'b1'), add('b', 'b2'), add('c', 'c1'));
  await settle();
  expect(begun).toEqual(['a1', 'b1']);
  await endAll();
  expect(await Promise.all(done)).toHaveLength(8);
  expect(begun.indexOf('c1')).toBeLessThan(begun.indexOf('a4'));
  expect(begun.indexOf('b2')).toBeLessThan(begun.indexOf('a5'));
});

it('where too much waits, the client with most of it loses its newest', async () => {
  const { begun, add, endAll } = createWork({ ofStrangers: 1, waiting: 3 });
  const flood = ['a1', 'a2', 'a3', 'a4'].map((name) => add('a', name));
  const refused = expect(flood[3]).rejects.toThrow('refused');
  const other = add('b', 'b1');
  await refused;
  await endAll();
  expect(await other).toBe('b1');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  // what was refused takes no place later
  const later = add('c', 'c1');
  await settle();
  expect(begun.at(-1)).toBe('c1');
  await endAll();
  await later;
});

it('where too much waits, the youngest of a crowd is refused before who is known', async () => {
  const { begun, add, endAll } = createWork({ ofStrangers: 1, waiting: 3 });
  const first = add('known', 'good');
  await settle();
  await endAll();
  await first;
  const crowd = ['a', 'b', 'c', 'd'].map((client) => add(client, client));
  const refused = expect(crowd[3]).rejects.toThrow('refused');
  const own = ['good 1', 'good 2'].map((name) => add('known', name));
  await refused;
  await endAll();
  await Promise.all([...own, ...crowd.slice(0, 3)]);
  expect(begun).toEqual(['good', 'a', 'good 1', 'b', 'good 2', 'c']);
});

it.each([
  ['/64s of one /56', (i: number) => `2001:db8:0:${i.toString(16)}::/64`],
  ['/64s of one /48', (i: number) => `2001:db8:0:${(i << 8).toString(16)}::/64`],
])('all %s wait as one client', async (_, network) => {
  const { begun, add, endAll } = createWork({ ofStrangers: 8, waiting: 64 });
  const flood = Array.from({ length: 200 }, (_, i) => add(network(i), `flood ${i}`));
  const done = Promise.allSettled(flood);
  const other = add('192.0.2.1', 'other');
  await settle();
  expect(begun).toEqual(['flood 0', 'other']);
  await endAll();
  expect(await other).toBe('other');
  await done;
});

it('a crowd leaves places for clients whose work was of use, and a crowd of these for others', async () => {
  const { begun, add, endAll } = createWork({ ofKnown: 2, ofStrangers: 6, waiting: 64 });
  const flooders = ['a', 'b', 'c'];
  const firsts = flooders.map((client) => add(client, 'good'));
  await settle();
  await endAll();
  await Promise.all(firsts);
  const flood = [1, 2, 3].flatMap((i) => flooders.map((client) => add(client, `good ${i}`)));
  const crowd = Array.from({ length: 250 }, (_, i) => add(`192.0.2.${i}`, `stranger ${i}`));
  const done = Promise.allSettled([...flood, ...crowd]);
  await settle();
  expect(begun.slice(3).filter((name) => name.startsWith('good'))).toHaveLength(2);
  expect(begun.filter((name) => name.startsWith('stranger'))).toHaveLength(6);
  await endAll();
  await done;
});

it('work that fails gives its place to the next', async () => {
  const limit = createFairLimit<string>(
    {
      ofKnown: 1,
      ofStrangers: 1,
      waiting: 2,
      maxWaitMs: 1000,
      refuse: () => new Error(),
    },
    () => true,
  );
  const failing = limit('a', () => Promise.reject(new Error('down')));
  const next = limit('a', async () => 'next');
  await expect(failing).rejects.toThrow('down');
  expect(await next).toBe('next');
});
