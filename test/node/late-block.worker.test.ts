/**
 * A block that is stored, or referenced, while a request asks the follower for it: the follower
 * does not serve it any more, and the first read, perhaps on a replica, did not have it yet.
 */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { readBlock } from '../../src/ledger/read/stored-block.ts';
import { prune } from '../../src/ledger/write/prune.ts';
import { respond } from '../support/hornet-double/routes.ts';
import { followTo, startLedger } from '../support/ledger/ledger-harness.ts';
import { openTestNode } from '../support/ledger/open-test-node.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

afterEach(() => void vi.unstubAllGlobals());

it('is read once more, on the primary', async () => {
  const network = new SyntheticNetwork({ seed: 'late reads' });
  network.note();
  network.milestone();
  const rig = await startLedger(env.LEDGER, network, 0);
  await followTo(rig, 1);
  vi.stubGlobal('fetch', async (url: string, init: { headers: { accept: string } }) =>
    respond(rig.node, url, init.headers.accept),
  );
  const node = openTestNode(['http://a.example'], network.keys);
  const id = network.note().slice(2);
  expect(await readBlock(env.LEDGER, id)).toBeUndefined();
  const read = () => node.readUnstored(id, '192.0.2.1');
  expect(await read()).toMatchObject({ ledgerIndex: 1, referenced: undefined });
  network.milestone();
  await followTo(rig, 2);
  expect(await read()).toMatchObject({ ledgerIndex: 2, referenced: { index: 2 } });
});

it("counts more than an upstream's word, also once its milestone and it are pruned", async () => {
  const network = new SyntheticNetwork({ seed: 'word of an upstream' });
  const id = network.note().slice(2);
  for (let i = 0; i < 4; i++) network.milestone();
  const rig = await startLedger(env.LEDGER, network, 0);
  await followTo(rig, 4);
  // of several nodes behind its address one is behind
  const unreferenced = { blockId: `0x${id}`, isSolid: true };
  vi.stubGlobal('fetch', async (url: string, init: { headers: { accept: string } }) =>
    url.endsWith('/metadata')
      ? Response.json(unreferenced)
      : respond(rig.node, url, init.headers.accept),
  );
  const read = () => openTestNode(['http://a.example'], network.keys).readUnstored(id, '192.0.2.1');
  expect(await read()).toMatchObject({ ledgerIndex: 4, referenced: { index: 1 } });
  await prune(env.LEDGER, 1);
  expect(await readBlock(env.LEDGER, id)).toBeNull();
  expect(await read()).toBeUndefined();
});
