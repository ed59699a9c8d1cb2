/** Requests out of bytes that come in any pieces. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RequestHead } from '../../../../cli/serve/front/request-head.ts';
import {
  createRequestReader,
  MAX_BODY_BYTES,
  MAX_CHUNKS,
  MAX_HEAD_BYTES,
} from '../../../../cli/serve/front/request-reader.ts';
import type { HttpError } from '../../../../src/http/errors.ts';

const HEAD = 'POST /a HTTP/1.1\r\nHost: edge.example\r\n';
const PASSED = `${HEAD}CF-Connecting-IP: 192.0.2.1\r\n`;

const written = ({ text }: RequestHead) => text;

/** What is passed on of the bytes, which come in pieces that end at these places. */
function readAll(text: string, ends: readonly number[] = []): (string | number)[] {
  const reader = createRequestReader('192.0.2.1', false);
  const found: (string | number)[] = [];
  const bytes = Buffer.from(text, 'latin1');
  const places = [...ends, bytes.length].sort((a, b) => a - b);
  let from = 0;
  for (const to of places) {
    reader.push(bytes.subarray(from, to));
    from = to;
    try {
      for (let next = reader.next(); next !== undefined; next = reader.next())
        found.push(written(next));
    } catch (error) {
      return [...found, (error as HttpError).status];
    }
  }
  return found;
}

const chunked = (parts: string[]) =>
  `${HEAD}Transfer-Encoding: chunked\r\n\r\n${parts
    .map((part) => `${part.length.toString(16)};x=1\r\n${part}\r\n`)
    .join('')}0\r\n\r\n`;

it('however they are cut, requests behind each other are the same requests', () => {
  const body = fc.string({ unit: 'binary-ascii', maxLength: 40 });
  const request = fc.oneof(
    fc.constant([`${HEAD}\r\n`, `${PASSED}\r\n`]),
    body.map((text) => [
      `${HEAD}Content-Length: ${text.length}\r\n\r\n${text}`,
      text === '' ? `${PASSED}\r\n` : `${PASSED}Content-Length: ${text.length}\r\n\r\n${text}`,
    ]),
    fc.array(body.filter((text) => text !== '')).map((parts) => {
      const text = parts.join('');
      return [chunked(parts), `${PASSED}Content-Length: ${text.length}\r\n\r\n${text}`];
    }),
  );
  fc.assert(
    fc.property(fc.array(request), fc.array(fc.nat(2000)), (requests, ends) => {
      const sent = requests.map(([text]) => text).join('\r\n');
      expect(readAll(sent, ends)).toEqual(requests.map(([, passed]) => passed));
    }),
  );
});

it.each([
  ['a size that is none', 'x\r\n'],
  ['a size with a sign', '+1\r\na\r\n'],
  ['a size with 0x', '0x1\r\na\r\n'],
  ['a size of 16 digits', '0000000000000001\r\na\r\n'],
  ['more data than its size', '1\r\nab\r\n0\r\n\r\n'],
  ['fields after the last chunk', '0\r\nX-A: 1\r\n\r\n'],
  ['a line that does not end', `1${'0'.repeat(300)}`],
  ['more chunks than a body has', '1\r\na\r\n'.repeat(MAX_CHUNKS + 1)],
  ['more than the longest body', `${'fffff\r\n'.padEnd(MAX_BODY_BYTES + 6, 'a')}\r\n2\r\nab\r\n`],
])('chunks with %s are refused', (_, chunks) => {
  expect(readAll(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunks}`)).toEqual([400]);
});

it('what is held is in proportion to the bytes that came, however short the pieces are', () => {
  const reader = createRequestReader('192.0.2.1', false);
  const read = (text: string) => {
    reader.push(Buffer.from(text));
    expect(reader.next()).toBe(undefined);
    return reader.bytes;
  };
  const inHead = [...HEAD].map(read);
  expect(inHead.at(-1)).toBeGreaterThan(HEAD.length);
  expect(inHead.at(-1)).toBeLessThan(8 * HEAD.length);
  read('Transfer-Encoding: chunked\r\n\r\n');
  const chunks = '1\r\na\r\n'.repeat(MAX_CHUNKS - 1);
  let bytes = 0;
  for (let at = 0; at < chunks.length; at += 7) bytes = read(chunks.slice(at, at + 7));
  expect(bytes).toBeGreaterThan(MAX_CHUNKS);
  expect(bytes).toBeLessThan(4 * MAX_CHUNKS);
});

it('a long head and a long body are refused before they are there', () => {
  expect(readAll(`${HEAD}X-A: ${'a'.repeat(MAX_HEAD_BYTES)}`)).toEqual([400]);
  expect(readAll('a'.repeat(MAX_HEAD_BYTES + 1))).toEqual([400]);
  expect(readAll(`${HEAD}Content-Length: ${MAX_BODY_BYTES + 1}\r\n\r\n`)).toEqual([400]);
});

it('a client that expects 100 Continue is told once, where a body is due', () => {
  const reader = createRequestReader('192.0.2.1', false);
  reader.push(Buffer.from(`${HEAD}Expect: 100-continue\r\nContent-Length: 1\r\n\r\n`));
  expect([reader.next(), reader.takeExpectation(), reader.takeExpectation()]).toEqual([
    undefined,
    true,
    false,
  ]);
  reader.push(Buffer.from('a'));
  expect(written(reader.next() as RequestHead)).toBe(`${PASSED}Content-Length: 1\r\n\r\na`);
});

it('an empty line before each request is skipped, and more of them are refused, however cut', () => {
  const request = `${HEAD}\r\n`;
  for (let cut = 0; cut <= 4; cut++) {
    const twice = `\r\n${request}\r\n${request}`;
    expect(readAll(twice, [cut])).toEqual([`${PASSED}\r\n`, `${PASSED}\r\n`]);
    expect(readAll(`${request}\r\n\r\n${request}`, [request.length + cut])).toEqual([
      `${PASSED}\r\n`,
      400,
    ]);
  }
  // they were read by a loop: 64 KB of them took 5 ms, and the connection stayed
  expect(readAll('\r\n'.repeat(100))).toEqual([400]);
});
