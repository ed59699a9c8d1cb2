/** The upstream's token goes to the first upstream, and nowhere else. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { readSettings } from '../../src/settings.ts';
import { createUpstreams } from '../../src/upstream/rest-upstream.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A node that redirects to `location`, or knows nothing; with the headers that it was sent. */
async function serve(location?: string): Promise<{ url: string; seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response
      .writeHead(location === undefined ? 404 : 302, location === undefined ? {} : { location })
      .end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function upstreamsAt(urls: readonly string[], token: string) {
  const result = readSettings({
    LEDGER: {},
    NFT_INDEX: {},
    FOLLOWER: {},
    VERSION: {},
    ASSETS: {},
    UPSTREAM_URL: urls.join(','),
    UPSTREAM_TOKEN: token,
  });
  if (!result.ok) throw new Error(result.problems.join());
  return createUpstreams()(result.settings, { timeout: 5000, attempts: 1 });
}

it('is sent to the first upstream alone', async () => {
  const nodes = [await serve(), await serve()];
  for (const upstream of upstreamsAt(
    nodes.map(({ url }) => url),
    'abc.def',
  )) {
    expect(await upstream.readBlock('00'.repeat(32))).toBeUndefined();
    expect(await upstream.readMilestone(5)).toBeUndefined();
    expect(await upstream.readReference('00'.repeat(32))).toBeUndefined();
  }
  expect(nodes.map(({ seen }) => seen.map(({ authorization }) => authorization))).toEqual([
    Array(3).fill('Bearer abc.def'),
    Array(3).fill(undefined),
  ]);
});

it('does not follow a redirect, nor stand in the message', async () => {
  const other = await serve();
  const first = await serve(`${other.url}/elsewhere`);
  const [upstream] = upstreamsAt([first.url], 'abc.def');
  await expect(upstream!.readBlock('00'.repeat(32))).rejects.toThrow(/status 302$/);
  await expect(upstream!.readHeads()).rejects.not.toThrow(/abc\.def/);
  expect(other.seen).toEqual([]);
});

it('is not sent where it is not set', async () => {
  const node = await serve();
  await upstreamsAt([node.url], '')[0]!.readBlock('00'.repeat(32));
  expect(node.seen[0]).not.toHaveProperty('authorization');
});
