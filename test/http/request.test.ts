/** Queries and bodies are read as the reference reads them, by Go's net/url and encoding/json. */
import { expect, it } from 'vitest';
import { parseQueryString, readJsonObject } from '../../src/http/request.ts';

it('of two pairs of a query with one name the first counts', () => {
  const values = parseQueryString('?tag=0x01&%74ag=0x02&sender=&sender=0x03');
  expect([...values]).toEqual([
    ['tag', '0x01'],
    ['sender', ''],
  ]);
});

it('pairs with a semicolon or a wrong percent sign are no pairs', () => {
  expect([...parseQueryString('a=1;b=2&c=%zz&%=3&d=4+5&e')]).toEqual([
    ['d', '4 5'],
    ['e', ''],
  ]);
});

it.each(['1.0', '1e2', '-1', '1E0', '-0'])('%s is no integer of a body', async (text) => {
  const read = (body: string) =>
    readJsonObject(new Request('http://edge.test', { method: 'POST', body }));
  expect(await read(`{"index":${text},"of":[7]}`)).toEqual({ index: Number.NaN, of: [7] });
});
