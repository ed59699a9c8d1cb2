/** A map that is bounded by the size of its entries. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBoundedMap } from '../../src/platform/bounded-map.ts';

const bytesOf = (key: string, value: string) => 10 + key.length + value.length;

it('keeps what was used last, within its bound', () => {
  const commands = fc.array(
    fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.option(fc.string({ maxLength: 120 }))),
  );
  fc.assert(
    fc.property(commands, (steps) => {
      const map = createBoundedMap<string>(200, bytesOf);
      // the model: least recently used first, in an array
      let model: [string, string][] = [];
      for (const [key, value] of steps) {
        const held = model.find(([name]) => name === key);
        if (value === null) {
          expect(map.get(key)).toBe(held?.[1]);
          if (held !== undefined) model = [...model.filter((entry) => entry !== held), held];
          continue;
        }
        map.set(key, value);
        model = model.filter((entry) => entry !== held);
        if (bytesOf(key, value) <= 200) model.push([key, value]);
        const size = () => model.reduce((sum, entry) => sum + bytesOf(...entry), 0);
        while (size() > 200) model.shift();
      }
      // oldest first, so that the order stays
      for (const name of 'abcde')
        if (!model.some(([kept]) => kept === name)) expect(map.get(name)).toBeUndefined();
      for (const [name, value] of model) expect(map.get(name)).toBe(value);
    }),
  );
});

it('does not keep what is larger than all of it', () => {
  const map = createBoundedMap<string>(300, bytesOf);
  map.set('small', 'x');
  map.set('key', 'x'.repeat(300));
  expect([map.get('key'), map.get('small')]).toEqual([undefined, 'x']);
});

it('has a look that makes nothing recent', () => {
  const map = createBoundedMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  expect([map.peek('a'), map.peek('c')]).toEqual([1, undefined]);
  map.set('c', 3);
  expect(['a', 'b', 'c'].map(map.get)).toEqual([undefined, 2, 3]);
});

it('evicts, deletes and clears by count where no size is given', () => {
  const map = createBoundedMap<number>(2);
  for (const [i, key] of ['a', 'b', 'c'].entries()) map.set(key, i);
  expect(['a', 'b', 'c'].map(map.get)).toEqual([undefined, 1, 2]);
  map.delete('b');
  map.delete('b');
  map.set('d', 3);
  expect(['b', 'c', 'd'].map(map.get)).toEqual([undefined, 2, 3]);
  map.clear();
  map.set('e', 4);
  map.set('f', 5);
  expect(['c', 'd', 'e', 'f'].map(map.get)).toEqual([undefined, undefined, 4, 5]);
});
