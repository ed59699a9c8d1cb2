/**
 * Bad requests by the thousand: random bytes, JSON that is nearly right, huge numbers, deep
 * nesting, long paths, odd methods and headers.
 *
 * Few are good by accident, so a test may only say that each answer is one that the contract has.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { checkAlways, errorBody, type Facts, NFT, WHITE_FLAG } from './contract.ts';

export interface RandomRequest {
  path: string;
  init: { method: string; headers: Record<string, string>; body?: Uint8Array | string };
}

const hexDigits = (size: number) =>
  fc.string({
    unit: fc.constantFrom(...'0123456789abcdefABCDEF'),
    minLength: size,
    maxLength: size,
  });
const hexId = fc.oneof(
  { weight: 3, arbitrary: hexDigits(64).map((digits) => `0x${digits}`) },
  fc
    .integer({ min: 0, max: 200 })
    .chain(hexDigits)
    .map((digits) => `0x${digits}`),
  hexDigits(64),
  fc.string({ maxLength: 80 }),
);
/** Characters that can stand in a URL; the rest would be encoded on the way. */
const pathText = fc.string({
  unit: fc.constantFrom(..."/%.0aAxX-_~!$&'()*+,;=:@é\u{1f600}"),
  maxLength: 60,
});

const nested = fc
  .record({
    depth: fc.integer({ min: 1, max: 20_000 }),
    open: fc.constantFrom('[', '{"a":', '[1,', '{"parents":['),
  })
  .map(({ depth, open }) => open.repeat(Math.min(depth, Math.floor(70_000 / open.length))));

const number = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(4_294_967_295, 4_294_967_296, 2 ** 53, 1e308, -0, 1e-7),
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map((big) => Number(big)),
);

function nearlyRight(facts: Facts): fc.Arbitrary<string> {
  const anything = fc.oneof(
    number,
    fc.jsonValue({ maxDepth: 3 }),
    hexId,
    fc.array(hexId, { maxLength: 12 }),
  );
  const fields = fc.record(
    {
      index: fc.oneof(fc.constant(facts.whiteFlag.index), anything),
      timestamp: fc.oneof(fc.constant(facts.whiteFlag.timestamp), anything),
      parents: fc.oneof(
        fc.constant(facts.whiteFlag.parents),
        fc.array(hexId, { maxLength: 12 }),
        anything,
      ),
      previousMilestoneId: fc.oneof(fc.constant(facts.whiteFlag.previousMilestoneId), anything),
      ['__proto__']: anything,
      ' ': anything,
    },
    { requiredKeys: [] },
  );
  const text = fields.map((value) => JSON.stringify(value));
  const spliced = fc
    .record({
      text,
      at: fc.nat(400),
      cut: fc.nat(20),
      insert: fc.oneof(fc.string({ maxLength: 10 }), nested),
    })
    .map(({ text, at, cut, insert }) => text.slice(0, at) + insert + text.slice(at + cut));
  const hugeNumber = fc
    .record({ text, digits: fc.integer({ min: 5, max: 40_000 }) })
    .map(({ text, digits }) => text.replace(/\d+/, '9'.repeat(digits)));
  return fc.oneof(text, spliced, hugeNumber);
}

export function badRequests(facts: Facts): fc.Arbitrary<RandomRequest> {
  const method = fc.oneof(
    { weight: 6, arbitrary: fc.constant('') },
    fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
  );
  const headers = fc.dictionary(
    fc.constantFrom(
      'content-type',
      'accept',
      'if-none-match',
      'x-min-ledger-index',
      'origin',
      'range',
      'content-encoding',
    ),
    fc.string({ unit: fc.constantFrom(...' ,"*/0129abW-=;'), maxLength: 30 }),
    { maxKeys: 3 },
  );
  const path = fc.oneof(
    { weight: 4, arbitrary: fc.constant(WHITE_FLAG) },
    {
      weight: 2,
      arbitrary: fc
        .oneof(hexId, pathText)
        .map((id) => NFT + encodeURI(id.toWellFormed()).replaceAll('#', '')),
    },
    pathText.map((text) => `/${encodeURI(text)}`),
    fc
      .oneof(pathText, hexId)
      .map((text) => `/api/core/v2/${encodeURI(text.toWellFormed()).replaceAll('#', '')}`),
    fc
      .tuple(
        fc.constantFrom('/', NFT, '/api/core/v2/outputs/', `${WHITE_FLAG}?`),
        fc.constantFrom('a', '/', '%', '%2e', 'a&', 'é'),
        fc.nat(5_000),
      )
      .map(([prefix, piece, times]) => prefix + piece.repeat(times)),
  );
  const body = fc.oneof(
    { weight: 4, arbitrary: nearlyRight(facts) },
    fc.uint8Array({ maxLength: 300 }),
    fc.json(),
    fc.string(),
    nested,
    fc.integer({ min: 60_000, max: 140_000 }).map((length) => new Uint8Array(length).fill(0x20)),
  );
  return fc.record({ path, method, headers, body }).map(({ path, method, headers, body }) => {
    const chosen = method === '' ? (path.startsWith(WHITE_FLAG) ? 'POST' : 'GET') : method;
    const carriesBody = chosen !== 'GET' && chosen !== 'HEAD';
    return { path, init: { method: chosen, headers, ...(carriesBody && { body }) } };
  });
}

/** Never a 500, never a body outside the contract. */
export async function checkAnswer({ init }: RandomRequest, response: Response): Promise<void> {
  const text = await response.text();
  const { status } = response;
  checkAlways(response);
  if (status >= 400) {
    const body = init.method === 'HEAD' ? '' : errorBody(status);
    expect(status === 500 ? `status 500: ${text}` : text).toBe(body);
  } else {
    expect([200, 204, 304]).toContain(status);
  }
}
