/** Heads of requests that the front of `npm run serve` passes on, and that it refuses. */
import { expect, it } from 'vitest';
import { readRequestHead } from '../../../../cli/serve/front/request-head.ts';

const read = (lines: string[], peer = '192.0.2.1', isProxy = false) =>
  readRequestHead(lines.join('\r\n'), peer, isProxy);

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
  '',
])('Host %j is refused', (host) => {
  expect(read(['GET /health HTTP/1.1', `Host: ${host}`])).toEqual({
    status: 400,
    detail: 'Host must be a host and a port',
  });
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
  expect(get(target)).toEqual({ status: 404, detail: 'no such route' }),
);

it.each(['/...', '/a..b/.c', '/%2e.a'])('the path %s is left to the Worker', (target) =>
  expect(get(target)).toHaveProperty('text'),
);

it.each([
  'GET  / HTTP/1.1',
  'GET / HTTP/1.1 ',
  'GET / HTTP/2.0',
  'GET http://edge.example/ HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'GET /#/metrics HTTP/1.1',
  'GET /\xe9 HTTP/1.1',
  'get / HTTP/1.1',
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
  [[' folded: 1']],
  [['X-A: 1', '\tfolded']],
  [['X-A: a\nb']],
  [['X-A: a\rb']],
  [['X-A: a\0b']],
  [['no colon']],
  [['Upgrade: websocket', 'Content-Length: 1']],
])('the headers %j are refused', (lines) =>
  expect(withHeaders(...lines)).toMatchObject({ status: 400 }),
);

it('HTTP/1.0 needs a Host and has no chunks', () => {
  expect(read(['GET / HTTP/1.0'])).toMatchObject({ status: 400 });
  const lines = ['POST / HTTP/1.0', 'Host: a', 'Transfer-Encoding: chunked'];
  expect(read(lines)).toMatchObject({ status: 400 });
});

it('the address is that of the connection, whatever the client says', () => {
  const lines = [
    'GET / HTTP/1.1',
    'Host: a',
    'cf-connecting-ip: 1.1.1.1',
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
  const socket = read(['GET /api/mqtt/v1 HTTP/1.1', 'Host: a', 'Upgrade: websocket']);
  expect(socket).toMatchObject({ isWhiteFlag: false, isUpgrade: true });
});
