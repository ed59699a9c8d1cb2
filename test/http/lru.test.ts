/** A map that is bounded in bytes. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLru } from '../../src/http/lru.ts';

const bytesOf = (key: string, value: string) => 10 + key.length + value.length;

it('keeps what was used last, within its bound', () => {
  const commands = fc.array(
    fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.option(fc.string({ maxLength: 120 }))),
  );
  fc.assert(
    fc.property(commands, (steps) => {
      const lru = createLru(200, bytesOf);
      // the model: least recently used first, in an array
      let model: [string, string][] = [];
      for (const [key, value] of steps) {
        const held = model.find(([name]) => name === key);
        if (value === null) {
          expect(lru.get(key)).toBe(held?.[1]);
          if (held !== undefined) model = [...model.filter((entry) => entry !== held), held];
          continue;
        }
        lru.put(key, value);
        model = model.filter((entry) => entry !== held);
        if (bytesOf(key, value) <= 200) model.push([key, value]);
        const size = () => model.reduce((sum, entry) => sum + bytesOf(...entry), 0);
        while (size() > 200) model.shift();
        expect(lru.bytes).toBe(size());
      }
    }),
  );
});

it('does not keep what is larger than all of it', () => {
  const lru = createLru(300, bytesOf);
  lru.put('small', 'x');
  lru.put('key', 'x'.repeat(300));
  expect([lru.get('key'), lru.get('small')]).toEqual([undefined, 'x']);
});
