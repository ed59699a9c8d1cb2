/**
 * A flood of reads that have to be fetched (src/follower/bring/bring-blocks.ts): strangers take two
 * of the upstream's answers at once and no more, and nothing of what a white-flag request needs.
 */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
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
  // of each site 1
  const reads = unknown.map((id, i) =>
    node.readUnstored(id, `2001:db8:${i % 2}:${i}::/64`).catch(() => undefined),
  );
  await vi.waitUntil(() => hanging === 2, { timeout: 300_000 });
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 3; i++) network.note();
    const { request, response } = network.propose();
    expect(await askNode(node, request)).toEqual(response);
  }
  expect(await Promise.all(reads)).toEqual(unknown.map(() => undefined));
  expect(Math.max(...counts)).toBe(2);
});

it('one site that floods leaves a place to others', async () => {
  const network = new SyntheticNetwork({ seed: 'flood of one site' });
  network.milestone();
  const rig = await startLedger(env.LEDGER, network, 0);
  await followTo(rig, 1);
  const node = openTestNode(['http://upstream.example'], network.keys);
  const unknown = Array.from({ length: READS }, (_, i) => (i + 1).toString(16).padStart(64, 'a'));
  const hanging = new Set<() => void>();
  vi.stubGlobal('fetch', (url: string, init: { headers: { accept: string } }) => {
    const answer = () => respond(rig.node, url, init.headers.accept);
    if (!unknown.some((id) => url.includes(id))) return Promise.resolve(answer());
    return new Promise((resolve) => hanging.add(() => resolve(answer())));
  });
  const reads = unknown.map((id, i) =>
    node.readUnstored(id, `2001:db8:0:${i}::/64`).catch(() => undefined),
  );
  await vi.waitUntil(() => hanging.size === 1, { timeout: 300_000 });
  const known = network.note().slice(2);
  const read = await node.readUnstored(known, '192.0.2.1');
  expect(read && blake2b256(read.bytes).toHex()).toBe(known);
  expect(hanging.size).toBe(1);
  const done = Promise.all(reads);
  while ((await Promise.race([done, new Promise((go) => setTimeout(go, 10))])) === undefined)
    for (const answer of hanging) answer();
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
