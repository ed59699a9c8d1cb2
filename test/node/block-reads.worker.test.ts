/**
 * Reads of single blocks that are fetched from upstream (src/node/edge-node.ts): however many there
 * are, they take nothing from the white flag.
 */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { respond } from '../support/hornet-double/routes.ts';
import { followTo, type Rig, startLedger } from '../support/ledger/ledger-harness.ts';
import { askNode, openTestNode } from '../support/ledger/open-test-node.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const network = new SyntheticNetwork({ seed: 'block reads' });
let rig: Rig;
/** Paths that the upstream was asked for. */
let asked: string[] = [];
/** Paths that it fails at. */
let failing = /^$/;

beforeAll(async () => {
  network.note();
  network.milestone();
  rig = await startLedger(env.LEDGER, network, 0);
  await followTo(rig, 1);
});

beforeEach(() => {
  asked = [];
  failing = /^$/;
  vi.stubGlobal('fetch', async (url: string, init: { headers: { accept: string } }) => {
    const { pathname } = new URL(url);
    asked.push(pathname.replace('/api/core/v2/', ''));
    if (failing.test(pathname)) return new Response('', { status: 500 });
    return respond(rig.node, url, init.headers.accept);
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const open = () => openTestNode(['http://a.example'], network.keys);
type Node = ReturnType<typeof open>;

/** Asks about blocks that are not stored. */
async function expectRoots(node: Node): Promise<void> {
  for (let i = 0; i < 3; i++) network.note();
  const { request, response } = network.propose();
  expect(await askNode(node, request)).toEqual(response);
}

const unknownId = (i: number) => `ff${i.toString(16).padStart(62, '0')}`;

it('of one block that nobody knows ask once, and again some seconds later', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const node = open();
  for (let i = 0; i < 20; i++)
    expect(await node.readUnstored(unknownId(0), '192.0.2.1')).toBeUndefined();
  expect(asked).toEqual([`blocks/0x${unknownId(0)}`]);
  vi.setSystemTime(Date.now() + 3000);
  const id = network.note().slice(2);
  expect(await node.readUnstored(unknownId(0), '192.0.2.1')).toBeUndefined();
  expect(asked).toHaveLength(2);
  expect((await node.readUnstored(id, '192.0.2.1'))?.ledgerIndex).toBe(1);
});

it('that fail do not stop the white flag from fetching', async () => {
  const node = open();
  failing = /\/blocks\/0xff/;
  for (let i = 0; i < 6; i++)
    await expect(node.readUnstored(unknownId(i), '192.0.2.1')).rejects.toThrow();
  await expectRoots(node);
});
