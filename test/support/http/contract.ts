/**
 * The contract (docs/contract.md) as data: one row a rule. The rows run against an app over made-up
 * data and against a Worker that serves a real ledger.
 */
import { expect } from 'vitest';

export type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

/** What the ledger under test knows. IDs are 0x and lower case. */
export interface Facts {
  ledgerIndex: number;
  genesisIndex: number;
  /** Timestamp of the milestone at the ledger index. */
  ledgerTimestamp: number;
  nftId: string;
  /** Its unspent output. */
  nftOutputId: string;
  /** For milestone ledgerIndex + 1. */
  whiteFlag: {
    index: number;
    timestamp: number;
    parents: readonly string[];
    previousMilestoneId: string;
  };
  roots: { inclusionMerkleRoot: string; appliedMerkleRoot: string };
}

export interface Row {
  name: string;
  path: string;
  init?: RequestInit;
  status: number;
  /** Headers that must be so; null: absent. */
  headers?: Record<string, string | null>;
  /** The body of a success. */
  body?: unknown;
}

/** The whole body of each error, byte for byte: first those that the seed of this node has. */
const ERROR_BODIES: Record<number, string> = {
  400: '{"error":{"code":400,"message":"invalid data provided"}}',
  403: '{"error":{"code":403,"message":"not available for public use"}}',
  404: '{"error":{"code":404,"message":"could not find data"}}',
  500: '{"error":{"code":500,"message":"internal server error"}}',
  401: '{"error":{"code":401,"message":"unauthorized"}}',
  405: '{"error":{"code":405,"message":"method not allowed"}}',
  429: '{"error":{"code":429,"message":"too many requests"}}',
  503: '{"error":{"code":503,"message":"service unavailable"}}',
};

export const NFT = '/api/indexer/v1/outputs/nft/';
export const WHITE_FLAG = '/api/core/v2/whiteflag';

const UNKNOWN_ID = `0x${'5a'.repeat(32)}`;
const ZERO_ID = `0x${'0'.repeat(64)}`;

/** The body, the exact bytes of it, that an error with this status has. */
export function errorBody(status: number): string {
  const body = ERROR_BODIES[status];
  if (body === undefined) throw new Error(`no error has status ${status}`);
  return body;
}

export function post(
  body: BodyInit,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): RequestInit {
  return { method: 'POST', body, headers };
}

export async function checkRow(fetch: Fetch, row: Row): Promise<void> {
  const response = await fetch(row.path, row.init);
  const text = await response.text();
  const ofSuccess = typeof row.body === 'string' ? row.body : JSON.stringify(row.body);
  expect(`${response.status} ${text}`).toBe(
    `${row.status} ${row.status >= 400 ? errorBody(response.status) : ofSuccess}`,
  );
  for (const [name, value] of Object.entries(row.headers ?? {}))
    expect([name, response.headers.get(name)]).toEqual([name, value]);
  checkAlways(response);
}

/** Expects this error, and of it what holds for every answer. */
export const expectError = (
  fetch: Fetch,
  path: string,
  status: number,
  init: RequestInit = {},
  headers: Row['headers'] = {},
) => checkRow(fetch, { name: '', path, status, init, headers });

/** Hex digits of an object's state, an output ID or a hash; those of a list are fewer. */
const STATE = /^[0-9a-f]{64,68}$/;

/**
 * What holds for each read of the ledger (docs/contract.md#caching): it may be kept for seconds, is
 * 304 by its tag, and obeys X-Min-Ledger-Index. Returns the tag.
 */
export async function checkLedgerRead(
  fetch: Fetch,
  path: string,
  ledgerIndex: number,
  vary = 'x-min-ledger-index',
): Promise<string> {
  const { status, headers } = await fetch(path);
  const kept = 'public, max-age=5, stale-while-revalidate=10, stale-if-error=0';
  const told = ['cache-control', 'vary', 'x-ledger-index'].map((name) => headers.get(name));
  expect([path, status, ...told]).toEqual([path, 200, kept, vary, `${ledgerIndex}`]);
  const etag = headers.get('etag')!;
  const [, digits] = new RegExp(`^W/"${ledgerIndex}-([0-9a-f]{16,})"$`).exec(etag) ?? [];
  const again = await fetch(path, { headers: { 'if-none-match': etag } });
  expect([again.status, await again.text(), again.headers.get('vary')]).toEqual([304, '', vary]);
  const atLeast = (minimum: unknown) => ({ headers: { 'x-min-ledger-index': `${minimum}` } });
  const own = await fetch(path, atLeast(ledgerIndex));
  expect(digits, etag).toBeDefined();
  const ownTag = STATE.test(digits!) ? `W/"${digits}"` : etag;
  const ownHeaders = ['cache-control', 'etag'].map((name) => own.headers.get(name));
  expect([own.status, ...ownHeaders]).toEqual([200, 'no-store', ownTag]);
  const at = { 'x-ledger-index': `${ledgerIndex}` };
  await expectError(fetch, path, 404, atLeast(ledgerIndex + 1), at);
  await expectError(fetch, path, 400, atLeast('latest'));
  return etag;
}

const EXPOSED = 'X-Ledger-Index, X-Final-Milestone, X-Error-Detail, ETag, Retry-After';

/** What holds for every answer. One comparison, as random requests come by the thousand. */
export function checkAlways({ status, headers }: Response): void {
  const isError = status >= 400;
  const caching = headers.get('cache-control');
  const detail = headers.get('x-error-detail') ?? '';
  expect({
    origin: headers.get('access-control-allow-origin'),
    sniffing: headers.get('x-content-type-options'),
    exposed: headers.get('access-control-expose-headers'),
    caching: isError ? /^(private, )?no-store$/.test(caching ?? '') || caching : caching !== null,
    type: !isError || headers.get('content-type'),
    detail: !isError || /^[\x20-\x7e]{0,200}$/.test(detail) || detail,
  }).toEqual({
    origin: '*',
    sniffing: 'nosniff',
    exposed: EXPOSED,
    caching: true,
    type: isError ? 'application/json' : true,
    detail: true,
  });
}

export function nftRows(facts: Facts): Row[] {
  const found = {
    status: 200,
    body: { ledgerIndex: facts.ledgerIndex, items: [facts.nftOutputId] },
    headers: { 'content-type': 'application/json', 'x-ledger-index': String(facts.ledgerIndex) },
  };
  const missing = { status: 404, headers: { 'x-ledger-index': String(facts.ledgerIndex) } };
  const digits = facts.nftId.slice(2);
  const bad = (name: string, id: string): Row => ({
    name: `400: ${name}`,
    path: NFT + id,
    status: 400,
  });
  return [
    { name: '200: an unspent NFT', path: NFT + facts.nftId, ...found },
    { name: '200: upper case, 0X', path: `${NFT}0X${digits.toUpperCase()}`, ...found },
    { name: '200: a query is ignored', path: `${NFT}${facts.nftId}?pageSize=5&cursor=`, ...found },
    { name: '404: never minted', path: NFT + UNKNOWN_ID, ...missing },
    { name: '404: the zero ID', path: NFT + ZERO_ID, ...missing },
    { name: '404: no ID', path: NFT, status: 404 },
    {
      name: '404: a slash too many before the prefix',
      path: `/api//indexer/v1/outputs/nft/${facts.nftId}`,
      status: 404,
    },
    {
      name: '404: upper case in the path',
      path: `/api/indexer/v1/outputs/NFT/${facts.nftId}`,
      status: 404,
    },
    bad('no 0x', digits),
    bad('0x alone', '0x'),
    bad('odd digits', facts.nftId.slice(0, -1)),
    bad('31 bytes', facts.nftId.slice(0, -2)),
    bad('33 bytes', `${facts.nftId}00`),
    bad('no hex', `${facts.nftId.slice(0, -1)}g`),
    bad('a slash after it', `${facts.nftId}/`),
    bad('a slash too many before it', `/${facts.nftId}`),
    bad('slashes alone', '/'),
    bad('a path below it', `${facts.nftId}/metadata`),
    bad('a percent sign', `%30x${digits}`),
    bad('an encoded line feed', `${facts.nftId}%0A`),
    bad('an encoded slash', `${facts.nftId}%2F`),
    bad('letters beyond ASCII', `0x${'é'.repeat(32)}`),
    bad('full-width digits', `0x${'\uff11'.repeat(64)}`),
    bad('a long one', `0x${'a'.repeat(10_000)}`),
    {
      name: '405: POST',
      path: NFT + facts.nftId,
      init: post('{}'),
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    },
    {
      name: '405 before 400: DELETE of a bad ID',
      path: `${NFT}0x`,
      init: { method: 'DELETE' },
      status: 405,
    },
    { name: '404 before 405: POST without ID', path: NFT, init: post('{}'), status: 404 },
    {
      name: '200: at the ledger index asked for',
      path: NFT + facts.nftId,
      init: { headers: { 'x-min-ledger-index': String(facts.ledgerIndex) } },
      ...found,
    },
    {
      name: '404: the ledger is not that far',
      path: NFT + facts.nftId,
      init: { headers: { 'x-min-ledger-index': String(facts.ledgerIndex + 1) } },
      ...missing,
    },
    ...['', '-1', '1.5', '0x10', '4294967296', '99999999999', 'latest'].map((value) => ({
      name: `400: X-Min-Ledger-Index ${JSON.stringify(value)}`,
      path: NFT + facts.nftId,
      init: { headers: { 'x-min-ledger-index': value } },
      status: 400,
    })),
  ];
}

/** Makes a row of the good request with some fields changed; undefined leaves a field out. */
const asksOf =
  ({ whiteFlag }: Facts) =>
  (name: string, changes: object, expected: Pick<Row, 'status' | 'headers'>): Row => ({
    name: `${expected.status}: ${name}`,
    path: WHITE_FLAG,
    init: post(JSON.stringify({ ...whiteFlag, ...changes })),
    ...expected,
  });

/** Steps 1 and 2, and what follows from the route: the HTTP layer decides. */
export function whiteFlagRows(facts: Facts): Row[] {
  const { whiteFlag } = facts;
  const ledgerIndex = String(facts.ledgerIndex);
  const answered = {
    status: 200,
    body: {
      inclusionMerkleRoot: facts.roots.inclusionMerkleRoot,
      appliedMerkleRoot: facts.roots.appliedMerkleRoot,
    },
    headers: {
      'content-type': 'application/json',
      'x-ledger-index': ledgerIndex,
      'cache-control': 'no-store',
    },
  };
  const asks = asksOf(facts);
  const sends = (
    name: string,
    body: BodyInit,
    expected: { status: number } = { status: 400 },
    type = 'application/json',
  ) => ({
    name: `${expected.status}: ${name}`,
    path: WHITE_FLAG,
    init: post(body, { 'content-type': type }),
    ...expected,
  });
  const bad = { status: 400 };
  const good = JSON.stringify(whiteFlag);
  const parent = whiteFlag.parents[0]!;
  const upper = (id: string) => `0X${id.slice(2).toUpperCase()}`;
  const otherIds = Array.from({ length: 8 }, (_, i) => `0x${String(i + 1).repeat(64)}`);
  const at64KiB = good.replace('{', `{${' '.repeat(64 * 1024 - good.length)}`);

  return [
    // 200
    asks('the next milestone', {}, answered),
    asks('unknown fields are ignored', { metadata: [{ parents: [] }], INDEX: 'x' }, answered),
    asks(
      'any case and 0X',
      {
        parents: whiteFlag.parents.map(upper),
        previousMilestoneId: upper(whiteFlag.previousMilestoneId),
      },
      answered,
    ),
    asks(
      'repeated parents are dropped',
      { parents: [...whiteFlag.parents, ...whiteFlag.parents.map(upper)] },
      answered,
    ),
    sends('whatever its Content-Type', good, answered, 'text/plain'),
    sends('of two fields of one name the last counts', good.replace('{', '{"index":0,'), answered),
    sends(
      '__proto__ is a field like any other',
      good.replace('{', '{"__proto__":{"index":1},'),
      answered,
    ),
    sends('other fields have any numbers', good.replace('{', '{"x":1.5,"y":[-1e3],'), answered),
    sends('a body of 64 KiB', at64KiB, answered),
    // step 1
    sends('a body of 64 KiB and a byte', `${at64KiB} `),
    sends('an empty body', ''),
    { name: '400: no body', path: WHITE_FLAG, init: { method: 'POST' }, status: 400 },
    sends('not JSON', good.slice(0, -1)),
    sends('something after the object', `${good}{}`),
    sends('a byte order mark', `\ufeff${good}`),
    sends('not UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)),
    ...['null', '[]', '1', '"x"', 'true', '{}'].map((body) => sends(body, body)),
    sends('the request in a list', `[${good}]`),
    sends('nested 32,000 deep', '['.repeat(32_000) + ']'.repeat(32_000)),
    sends(
      'a field nested 10,000 deep',
      good.replace('{', `{"parents":${'['.repeat(10_000)}${']'.repeat(10_000)},"x":`).concat('}'),
    ),
    // step 2
    ...['index', 'timestamp'].flatMap((field) => [
      asks(`${field} left out`, { [field]: undefined }, bad),
      ...[null, '17340', 1.5, -1, 4_294_967_296, true, [1], {}].map((value) =>
        asks(`${field} ${JSON.stringify(value)}`, { [field]: value }, bad),
      ),
      // as Go's encoding/json takes them for a uint32
      ...['1e400', '17340.0', '1.734e4', '17340e0', '-0'].map((text) =>
        sends(
          `${field} ${text}`,
          good.replace(new RegExp(`"${field}":\\d+`), `"${field}":${text}`),
        ),
      ),
    ]),
    ...[
      undefined,
      null,
      [],
      {},
      parent,
      [null],
      [''],
      [[parent]],
      [parent.slice(2)],
      [parent.slice(0, -1)],
      [`${parent}00`],
    ].map((parents) =>
      asks(`H-116, H-117 parents ${JSON.stringify(parents)?.slice(0, 24)}`, { parents }, bad),
    ),
    asks('a parent with a line feed', { parents: [`${parent}\n`] }, bad),
    asks('index 0', { index: 0 }, bad),
    asks('9 distinct parents', { parents: [parent, ...otherIds] }, bad),
    ...['0x', parent.slice(2), `${parent}00`, 0, false, [], {}].map((previousMilestoneId) =>
      asks(
        `H-118 previousMilestoneId ${JSON.stringify(previousMilestoneId).slice(0, 24)}`,
        { previousMilestoneId },
        bad,
      ),
    ),
    // the route
    { name: '405: GET', path: WHITE_FLAG, status: 405, headers: { allow: 'POST, OPTIONS' } },
    { name: '405: PUT', path: `${WHITE_FLAG}?x`, init: { method: 'PUT' }, status: 405 },
    { name: '404: a slash after it', path: `${WHITE_FLAG}/`, init: post(good), status: 404 },
    {
      name: '404: a percent sign',
      path: WHITE_FLAG.replace('w', '%77'),
      init: post(good),
      status: 404,
    },
    {
      name: '404: double slash',
      path: WHITE_FLAG.replace('/v2', '//v2'),
      init: post(good),
      status: 404,
    },
    { name: '404: unknown path', path: '/api/core/v2/peers', status: 404 },
  ];
}

/** Steps 3 to 5: the ledger decides. */
export function ledgerRows(facts: Facts): Row[] {
  const { whiteFlag } = facts;
  const asks = asksOf(facts);
  const bad = { status: 400 };
  const missing = { status: 404, headers: { 'x-ledger-index': String(facts.ledgerIndex) } };
  return [
    // step 3
    asks('index of genesis', { index: facts.genesisIndex }, bad),
    asks('H-108 the first milestone with a previous one', { index: facts.genesisIndex + 1 }, bad),
    ...[undefined, null, '', ZERO_ID].map((previousMilestoneId) =>
      asks(
        `H-108 a later milestone with previousMilestoneId ${JSON.stringify(previousMilestoneId)?.slice(0, 8)}`,
        { previousMilestoneId },
        {
          status: 400,
          headers: {
            'x-error-detail': `previousMilestoneId is ${previousMilestoneId ? 'zero' : 'absent'}`,
          },
        },
      ),
    ),
    // step 4
    asks('H-109, H-116 a milestone too far ahead', { index: whiteFlag.index + 1 }, missing),
    asks('index 4294967295', { index: 4_294_967_295 }, missing),
    asks('another previous milestone', { previousMilestoneId: UNKNOWN_ID }, bad),
    asks('H-109 a timestamp that is not raised', { timestamp: facts.ledgerTimestamp }, bad),
    // step 5
    asks('an unknown parent', { parents: [...whiteFlag.parents.slice(0, 7), UNKNOWN_ID] }, missing),
  ];
}
