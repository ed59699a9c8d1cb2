/**
 * The proxies of container/ in front of an edge node: what they answer by themselves has the
 * contract's form (docs/contract.md#errors), so that a browser sees it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { PROJECT } from '../cli/lib/project.ts';
import { temporaryFolder } from './support/cli/script-process.ts';
import { served, startFront } from './support/edge/front.ts';
import { freePort } from './support/edge/launch.ts';
import { hasTool } from './support/tools.ts';

const folder = temporaryFolder();
const read = (name: string) => readFileSync(join(PROJECT, 'container', name), 'utf8');

/** Answers with an error of its own, or not at all. */
async function startNode(): Promise<{ server: Server; address: string }> {
  const server = createServer(({ url }, response) => {
    if (url === '/silent') return;
    const own = {
      'access-control-allow-origin': '*',
      'retry-after': '60',
      'x-error-detail': 'own',
    };
    response.writeHead(url === '/limited' ? 429 : 200, own).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  return { server, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Resolves when it answers. */
async function untilAnswers(proxy: ChildProcess, url: string): Promise<void> {
  // not SIGKILL, which leaves nginx's workers
  onTestFinished(() => void proxy.kill());
  let log = '';
  proxy.stderr!.on('data', (chunk) => {
    log += chunk;
  });
  for (;;) {
    if (proxy.exitCode !== null) throw new Error(log);
    if (await fetch(url).then(Boolean, () => false)) return;
    await sleep(20);
  }
}

/** @param patience how long it waits for the node */
async function startNginx(node: string, patience = '1s'): Promise<string> {
  const port = await freePort();
  const own = mkdtempSync(join(folder, 'nginx-'));

  const conf = read('nginx.conf')
    .replace(/server \{\s+listen 80;[^}]+\}/, '')
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*$/gm, '')
    .replace('server edge-node:8787;', `server ${node};`)
    .replace('/var/cache/nginx/edge', join(own, 'cache'))
    .replace('proxy_read_timeout 60s;', `proxy_read_timeout ${patience};`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(own, name)};`)
    .join('');
  writeFileSync(
    join(own, 'nginx.conf'),
    `user ${userInfo().username}; daemon off; pid ${own}/pid; error_log stderr;
     ${conf.replace('http {', `http { access_log off; ${temporary}`)}`,
  );
  const args = ['-p', own, '-e', 'stderr', '-c', join(own, 'nginx.conf')];
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(spawn('nginx', args, { stdio: ['ignore', 'ignore', 'pipe'] }), url);
  return url;
}

async function startCaddy(node: string): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const file = join(folder, 'Caddyfile');
  const conf = read('Caddyfile').replace('header_timeout 60s', 'header_timeout 1s');
  writeFileSync(file, `{\n\tadmin off\n}\n${conf}`);
  const env = { ...process.env, SITE: url, EDGE_NODE: node, HOME: folder };
  const args = ['run', '--adapter', 'caddyfile', '--config', file];
  await untilAnswers(spawn('caddy', args, { env, stdio: ['ignore', 'ignore', 'pipe'] }), url);
  return url;
}

/** @returns its URL, and what it says of its checks of the node: a line for each server */
async function startHaproxy(node: string): Promise<{ url: string; checks(): Promise<string> }> {
  const port = await freePort();
  const own = mkdtempSync(join(folder, 'haproxy-'));
  const socket = join(own, 'stats');
  const conf = read('haproxy.cfg')
    .replace('defaults', `global\n  stats socket ${socket}\n\ndefaults`)
    .replace('bind :80', `bind 127.0.0.1:${port}`)
    .replaceAll(/^ *(?:bind :443|http-request redirect).*$/gm, '')
    .replace('timeout server 60s', 'timeout server 1s');
  const file = join(own, 'haproxy.cfg');
  writeFileSync(file, conf);
  const env = { ...process.env, EDGE_NODE: node };
  const url = `http://127.0.0.1:${port}`;
  const args = ['-db', '-f', file];
  await untilAnswers(spawn('haproxy', args, { env, stdio: ['ignore', 'ignore', 'pipe'] }), url);
  return {
    url,
    async checks() {
      const asked = connect(socket);
      asked.end('show stat edge_node 4 -1\n');
      return text(asked);
    },
  };
}

async function expectContract(answer: Response, status: number, message: string): Promise<void> {
  expect(answer.status).toBe(status);
  expect(await answer.json()).toEqual({ error: { code: status, message } });
  const { headers } = answer;
  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('access-control-allow-origin')).toBe('*');
  const exposed = headers.get('access-control-expose-headers')!.toLowerCase().split(', ');
  expect(exposed).toEqual(expect.arrayContaining(['x-error-detail', 'retry-after']));
  expect(headers.get('x-error-detail')).toMatch(/edge node|proxy/);
  expect(Number(headers.get('retry-after')) > 0).toBe(status !== 403);
}

it.runIf(hasTool('nginx')).each(['/api/core/v2/whiteflag', '/api/edge/v1/whiteflag'])(
  'nginx: 429 of %s',
  async (path) => {
    const { address } = await startNode();
    const url = (await startNginx(address)) + path;
    let answer = await fetch(url);
    while (answer.status === 200) answer = await fetch(url);
    await expectContract(answer, 429, 'too many requests');
  },
);

it.runIf(hasTool('nginx'))('nginx: nobody waits for an equal request', async () => {
  let begun = 0;
  const both = Promise.withResolvers<void>();
  const server = createServer(async ({ url }, response) => {
    // answers the first one once the second has come
    if (url === '/equal' && ++begun === 2) both.resolve();
    if (url === '/equal') await both.promise;
    response.writeHead(200, { 'cache-control': 'no-store' }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  // a request that waits for another one goes on after 5 s
  const url = await startNginx(`127.0.0.1:${port}`, '4s');
  const answers = await Promise.all([fetch(`${url}/equal`), fetch(`${url}/equal`)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

it.runIf(hasTool('haproxy')).each(['/api/core/v2/whiteflag', '/api/edge/v1/whiteflag'])(
  'HAProxy: 429 of %s',
  async (path) => {
    const { address } = await startNode();
    const url = (await startHaproxy(address)).url + path;
    let answer = await fetch(url);
    while (answer.status === 200) answer = await fetch(url);
    await expectContract(answer, 429, 'too many requests');
  },
);

it.runIf(hasTool('haproxy'))('HAProxy: its default check finds the node up', async () => {
  const { front } = await startFront();
  front.passTo(await served(createServer((_, response) => response.writeHead(204).end())));
  const { checks } = await startHaproxy(front.url.host);
  // by OPTIONS of HTTP/1.0 without a host
  await vi.waitFor(async () => expect(await checks()).toMatch(/,UP,.*,L7OK,204,/), 20_000);
});

it.runIf(hasTool('haproxy'))('HAProxy: a client has its share of connections', async () => {
  const { url } = await startHaproxy((await startNode()).address);
  const { port } = new URL(url);
  const open = (localAddress: string) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
    onTestFinished(() => void socket.destroy());
    return socket.on('error', () => {});
  };
  let refused = 0;
  for (let i = 0; i < 210; i++) open('127.0.0.2').on('close', () => refused++);
  await vi.waitFor(() => expect(refused).toBeGreaterThan(5), 10_000);
  const other = open('127.0.0.3').setEncoding('latin1');
  other.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(await text(other)).toMatch(/^HTTP\/1\.1 200/);
});

it.each([
  ['nginx', startNginx, 502, 'bad gateway'],
  ['caddy', startCaddy, 502, 'bad gateway'],
  ['haproxy', async (node: string) => (await startHaproxy(node)).url, 503, 'service unavailable'],
] as const)('%s: its own errors, and those of the node', async (tool, start, ended, message) => {
  if (!hasTool(tool)) return;
  const { server, address } = await startNode();
  const url = await start(address);
  const own = await fetch(`${url}/limited`);
  expect([own.status, await own.text()]).toEqual([429, '{}']);
  expect(own.headers.get('access-control-allow-origin')).toBe('*');
  expect(own.headers.get('retry-after')).toBe('60');
  expect(own.headers.get('x-error-detail')).toBe('own');
  await expectContract(await fetch(`${url}/metrics`), 403, 'not available for public use');
  await expectContract(await fetch(`${url}/silent`), 504, 'gateway timeout');
  server.close().closeAllConnections();
  await once(server, 'close');
  await expectContract(await fetch(`${url}/`), ended, message);
});

it.runIf(hasTool('nginx'))('nginx: keeps what Vary names apart', async () => {
  const { front } = await startFront();
  const worker = createServer(({ headers: { accept } }, response) => {
    const own = { 'content-length': 3, 'cache-control': 'public, max-age=60', vary: 'accept' };
    response.writeHead(200, own).end(accept === 'raw' ? 'RAW' : '{ }');
  });
  front.passTo(await served(worker));
  const url = await startNginx(front.url.host);
  const ask = async (accept: string) => (await fetch(`${url}/x`, { headers: { accept } })).text();
  expect([await ask('raw'), await ask('*/*')]).toEqual(['RAW', '{ }']);
});
