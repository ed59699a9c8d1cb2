/** Heads of requests that the front of `npm run serve` passes on, and that it refuses. */
import { expect, it } from 'vitest';
import { readRequestHead } from '../../../../cli/serve/front/request-head.ts';
import type { HttpError } from '../../../../src/http/errors.ts';

/** The head, or why it is refused. */
function read(lines: string[], peer = '192.0.2.1', isProxy = false) {
  try {
    return readRequestHead(lines.join('\r\n'), peer, isProxy);
  } catch (error) {
    const { status, detail, headers } = error as HttpError;
    return { status, detail, headers };
  }
}

const get = (target: string) => read([`GET ${target} HTTP/1.1`, 'Host: edge.example']);
const withHeaders = (...lines: string[]) =>
  read(['POST / HTTP/1.1', 'Host: edge.example', ...lines]);

it.each([
  'edge.example',
  'edge.example:8787',
  'my_node',
  '127.0.0.1:80',
  '[::1]:8787',
  'xn--e1afmkfd.example',
])('Host %s is passed on', (host) => {
  expect(read(['GET /health?a=/../b HTTP/1.1', `Host: ${host}`, 'X-A: b'])).toMatchObject({
    text: `GET /health?a=/../b HTTP/1.1\r\nHost: ${host}\r\nX-A: b\r\nCF-Connecting-IP: 192.0.2.1\r\n`,
    isHead: false,
    bodyLength: 0,
    isWhiteFlag: false,
  });
});

it.each([
  'x/metrics?',
  'x/metrics#',
  'x\\metrics?',
  'a"b',
  'a b',
  '[::1',
  '[::::]',
  'x:99999',
  'x:',
  'user@edge.example',
  'b\xfccher.example',
  '1.2.3.4.5',
])('Host %j is refused', (host) => {
  expect(read(['GET /health HTTP/1.1', `Host: ${host}`])).toMatchObject({
    status: 400,
    detail: 'Host must be a host and a port',
  });
  // a target as for a proxy has a host, too
  expect(read([`GET http://${host}/health HTTP/1.1`, 'Host: a'])).not.toHaveProperty(
    'text',
    expect.stringContaining(host),
  );
});

it.each([
  '/.',
  '/./health',
  '/a/../metrics',
  '/a/..',
  '/a/%2e%2E/metrics',
  '/a/.%2e/metrics',
  '/%2e',
  '/a\\..\\metrics',
])('the path %s has another spelling', (target) =>
  expect(get(target)).toMatchObject({ status: 404, detail: 'no such route' }),
);

it.each(['/...', '/a..b/.c', '/%2e.a'])('the path %s is left to the Worker', (target) =>
  expect(get(target)).toHaveProperty('text'),
);

it.each([
  'GET  / HTTP/1.1',
  'GET / HTTP/1.1 ',
  'GET / HTTP/2.0',
  'GET ftp://edge.example/ HTTP/1.1',
  'GET http:///a HTTP/1.1',
  'GET * HTTP/1.1',
  'GET a HTTP/1.1',
  'GET /#/metrics HTTP/1.1',
  'GET /?a=<b> HTTP/1.1',
  'GET /?a="b" HTTP/1.1',
  'GET /`a` HTTP/1.1',
  'GET /\xe9 HTTP/1.1',
  'G(T / HTTP/1.1',
  ' GET / HTTP/1.1',
  '',
])('the request line %j is refused', (line) =>
  expect(read([line, 'Host: edge.example'])).toMatchObject({ status: 400 }),
);

it.each([
  [['Host: edge.example']],
  [['Content-Length: 1', 'Content-Length: 1']],
  [['Content-Length: +1']],
  [['Content-Length: 1, 1']],
  [['Content-Length:']],
  [['Content-Length: 5', 'Transfer-Encoding: chunked']],
  [['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
  [['Transfer-Encoding: gzip, chunked']],
  [['Transfer-Encoding : chunked']],
  [['Transfer-Encoding: \x0bchunked']],
  // white space for JavaScript, and for no proxy
  [['Transfer-Encoding: chunked\xa0']],
  [['Content-Length: 5\xa0']],
  [[' folded: 1']],
  [['X-A: 1', '\tfolded']],
  [['X-A: a\nb']],
  [['X-A: a\rb']],
  [['X-A: a\0b']],
  [['X-A: a\x01b']],
  [['no colon']],
])('the headers %j are refused', (lines) =>
  expect(withHeaders(...lines)).toMatchObject({ status: 400 }),
);

it.each([
  [['GET /a HTTP/1.0'], 'localhost', true],
  [['GET /a HTTP/1.1', 'Host:'], 'localhost', false],
  [['GET /a HTTP/1.1', 'Host: b', 'Connection: x, Close'], 'b', true],
  [['GET http://b:80/a HTTP/1.1', 'Host: other'], 'b:80', false],
  [['GET http://b/a HTTP/1.0'], 'b', true],
])('%j is a request to %s, and the last one: %s', (lines, host, isLast) => {
  const text = `GET /a HTTP/1.1\r\nHost: ${host}\r\nCF-Connecting-IP: 192.0.2.1\r\n`;
  expect(read(lines)).toMatchObject({ text, isLast });
});

it('only HTTP/1.1 is told to continue (RFC 9110, 10.1.1)', () => {
  const expects = (version: string) =>
    read([`POST / HTTP/${version}`, 'Host: a', 'Expect: 100-continue', 'Content-Length: 1']);
  expect(expects('1.0')).toMatchObject({ expectsContinue: false });
  expect(expects('1.1')).toMatchObject({ expectsContinue: true });
});

it('OPTIONS of no path is that of all', () => {
  expect(read(['OPTIONS * HTTP/1.1', 'Host: a'])).toMatchObject({
    text: expect.stringMatching(/^OPTIONS \/ HTTP/),
  });
});

it('HTTP/1.1 needs a Host, and HTTP/1.0 has no chunks', () => {
  expect(read(['GET / HTTP/1.1'])).toMatchObject({ status: 400 });
  const lines = ['POST / HTTP/1.0', 'Host: a', 'Transfer-Encoding: chunked'];
  expect(read(lines)).toMatchObject({ status: 400 });
});

it.each(['CONNECT /x', 'CONNECT x:443', 'TRACE /', 'get /', 'M-SEARCH *', 'UPDATEREDIRECTREF /'])(
  'the method of %s is refused, as workerd would answer it by itself',
  (line) =>
    expect(read([`${line} HTTP/1.1`, 'Host: a'])).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, POST, OPTIONS' },
    }),
);

it('a head of any bytes is read in time that grows with its length', () => {
  // each of these took n * n steps: 0.7 s for the longest head
  const [spaces, tabs] = [' '.repeat(32_000), '\t'.repeat(32_000)];
  const startedAt = process.cpuUsage();
  for (let i = 0; i < 10; i++)
    for (const line of [`A:${spaces}\x01`, `A:${tabs}\x01`, `A:${spaces}`, `Host:${spaces}a b`])
      read(['GET / HTTP/1.1', line]);
  const { user } = process.cpuUsage(startedAt);
  expect(user / 1e6).toBeLessThan(1);
});

it('a head has at most 200 lines', () => {
  const lines = Array.from({ length: 200 }, () => 'A: b');
  expect(withHeaders(...lines.slice(2))).toHaveProperty('text');
  expect(withHeaders(...lines)).toMatchObject({ status: 400 });
});

it.each([
  ['gzip', true],
  ['br, GZIP;q=0.5', true],
  ['*', true],
  ['gzip;q=0', false],
  ['gzip; q=0.0, *', false],
  ['*;q=0', false],
  ['identity', false],
  ['', false],
])('Accept-Encoding %j: gzip is %s', (value, acceptsGzip) =>
  expect(withHeaders(`Accept-Encoding: ${value}`)).toMatchObject({ acceptsGzip }),
);

it('a thousand characters of Accept-Encoding are read: 32 KB of commas took 8 ms', () => {
  const after = (commas: number) => withHeaders(`Accept-Encoding: ${','.repeat(commas)}gzip`);
  expect(after(996)).toMatchObject({ acceptsGzip: true });
  expect(after(997)).toMatchObject({ acceptsGzip: false });
});

it('the address is that of the connection, whatever the client says', () => {
  const lines = [
    'GET / HTTP/1.1',
    'Host: a',
    'cf-connecting-ip: 1.1.1.1',
    'MF-CF-Blob: {}',
    'X-Forwarded-For: 2.2.2.2',
  ];
  const head = read(lines);
  expect(head).toMatchObject({ address: '192.0.2.1' });
  expect(head).toHaveProperty(
    'text',
    'GET / HTTP/1.1\r\nHost: a\r\nCF-Connecting-IP: 192.0.2.1\r\n',
  );
});

it('a proxy names the client that connected to it, last', () => {
  const forwarded = (value: string) =>
    read(['GET / HTTP/1.1', 'Host: a', `X-Forwarded-For: ${value}`], '10.0.0.1', true);
  expect(forwarded('6.6.6.6, 2001:db8::1')).toMatchObject({ address: '2001:db8::1' });
  expect(forwarded('')).toMatchObject({ address: '10.0.0.1' });
});

it('the white flag and WebSockets are told from other requests', () => {
  const flag = read(['POST /api/core/v2/whiteflag HTTP/1.1', 'Host: a', 'Content-Length: 700']);
  expect(flag).toMatchObject({ isWhiteFlag: true, bodyLength: 700, isUpgrade: false });
  // a gateway may add a query, which the Worker ignores there
  const path = '/api/core/v2/whiteflag';
  const isFlag = (target: string) =>
    read([`POST ${target} HTTP/1.1`, 'Host: a', 'Content-Length: 1']);
  for (const target of [`${path}?`, `${path}?a=b`, `http://a${path}`])
    expect(isFlag(target)).toMatchObject({ isWhiteFlag: true });
  for (const target of [`${path}s`, `${path}/`, '/api/edge/v1/whiteflag'])
    expect(isFlag(target)).toMatchObject({ isWhiteFlag: false });
});

const KEY = 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==';
const UPGRADE = ['Host: a', 'Upgrade: WebSocket', 'Connection: keep-alive, Upgrade'];
const upgrade = (...lines: string[]) => read(['GET /api/mqtt/v1 HTTP/1.1', ...UPGRADE, ...lines]);

it('a WebSocket is opened without extensions, with a key and version 13', () => {
  const head = upgrade(KEY, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Extensions: x');
  expect(head).toMatchObject({
    isUpgrade: true,
    text: expect.not.stringContaining('Extensions'),
  });
  expect(upgrade(KEY, 'Sec-WebSocket-Version: 12')).toMatchObject({
    status: 426,
    headers: { 'sec-websocket-version': '13' },
  });
  expect(upgrade(KEY)).toMatchObject({ status: 426 });
  expect(upgrade('Sec-WebSocket-Version: 13')).toMatchObject({ status: 400 });
  expect(upgrade(KEY, 'Sec-WebSocket-Version: 13', 'Content-Length: 1')).toMatchObject({
    status: 400,
  });
  // nothing else is upgraded to (RFC 9110, 7.8)
  const other = read(['GET / HTTP/1.1', 'Host: a', 'Upgrade: h2c', 'Connection: Upgrade']);
  expect(other).toMatchObject({ isUpgrade: false, text: expect.not.stringContaining('pgrade') });
});
