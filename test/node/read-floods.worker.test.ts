/**
 * A flood of reads that have to be fetched (src/node/read-unstored.ts): it takes six of the upstream's
 * answers at once and no more, and nothing of what a white-flag request needs.
 */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { respond } from '../support/hornet-double/routes.ts';
import { followTo, startLedger } from '../support/ledger/ledger-harness.ts';
import { askNode, openTestNode } from '../support/ledger/open-test-node.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

afterEach(() => vi.unstubAllGlobals());

const READS = 64;

it('64 reads that hang keep no proposal from being fetched', async () => {
  const network = new SyntheticNetwork({ seed: 'flood of reads' });
  network.milestone();
  const rig = await startLedger(env.LEDGER, network, 0);
  await followTo(rig, 1);
  const node = openTestNode(['http://upstream.example'], network.keys);
  const unknown = Array.from({ length: READS }, (_, i) => i.toString(16).padStart(64, '0'));
  let hanging = 0;
  const counts: number[] = [];
  vi.stubGlobal(
    'fetch',
    (url: string, init: RequestInit & { signal: AbortSignal; headers: { accept: string } }) => {
      const { pathname } = new URL(url);
      if (unknown.some((id) => pathname.includes(id))) {
        counts.push(++hanging);
        return new Promise((_, reject) => {
          init.signal.addEventListener('abort', () => {
            hanging--;
            reject(init.signal.reason);
          });
        });
      }
      return Promise.resolve(respond(rig.node, url, init.headers.accept));
    },
  );
  const reads = unknown.map((id) => node.readUnstored(id).catch(() => undefined));
  await vi.waitUntil(() => hanging === 6, { timeout: 300_000 });
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 3; i++) network.note();
    const { request, response } = network.propose();
    expect(await askNode(node, request)).toEqual(response);
  }
  expect(await Promise.all(reads)).toEqual(unknown.map(() => undefined));
  expect(Math.max(...counts)).toBe(6);
});

it('of parents that nobody knows one is fetched, once', async () => {
  const network = new SyntheticNetwork({ seed: 'unknown parents' });
  network.milestone();
  const rig = await startLedger(env.LEDGER, network, 0);
  await followTo(rig, 1);
  const node = openTestNode(['http://upstream.example'], network.keys);
  const unknown = Array.from(
    { length: 8 },
    (_, i) => `0x${(i + 1).toString(16).padStart(64, '0')}`,
  );
  let fetched = 0;
  vi.stubGlobal('fetch', (url: string, init: { headers: { accept: string } }) => {
    if (unknown.some((id) => url.includes(id))) fetched++;
    return Promise.resolve(respond(rig.node, url, init.headers.accept));
  });
  const { request } = network.propose();
  await expect(askNode(node, { ...request, parents: unknown })).rejects.toThrow('not known');
  expect(fetched).toBe(1);
});
