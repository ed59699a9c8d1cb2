/**
 * The follower's part in the index of every kind of output: whether it is wanted, and when it is
 * looked at. And the room for unreferenced blocks.
 */
import { expect, it } from 'vitest';
import {
  createFollowerMemory,
  type FollowerMemory,
  takePushed,
} from '../../src/follower/follower-context.ts';
import { storePushed } from '../../src/follower/pushed/store-pushed.ts';
import { keepUp } from '../../src/follower/upkeep.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { readHead } from '../../src/ledger/core/head.ts';
import type { IndexSettings } from '../../src/ledger/output-list/indexed-kinds.ts';
import { UNREFERENCED_LIMITS } from '../../src/ledger/write/drop-blocks.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { ledgerIndex, passOnce, startLedger, startNew } from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { storedBlocks } from '../support/ledger/stored-blocks.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { EVERY_KIND, listedLedger, ONLY_NFTS } from '../support/nft-list/listed-ledger.ts';

const LEDGER = 30;

/** How it goes with the index. */
async function keepIndex(db: Database, settings: IndexSettings, memory: FollowerMemory) {
  const tools = { db, upstreams: [], verify: verifySignature, memory, retention: 100 };
  return (await keepUp({ ...tools, ...settings }, true)).index;
}

it('indexes every kind at the final milestone, and then stays', async () => {
  const db = await listedLedger(LEDGER);
  const keep = async (settings: typeof EVERY_KIND) => {
    expect(await keepIndex(db, settings, createFollowerMemory())).toBe('done');
    return (await readHead(db))?.indexed;
  };
  expect(await keep(ONLY_NFTS)).toBe('');
  expect(await keep({ ...ONLY_NFTS, finalMilestone: LEDGER + 1 })).toBe('');
  expect(await keep({ ...ONLY_NFTS, finalMilestone: LEDGER })).toBe('all');
  expect(await keep({ ...ONLY_NFTS, finalMilestone: LEDGER - 1 })).toBe('all');
});

it('indexes every kind where INDEX says so', async () => {
  const db = await listedLedger(LEDGER);
  expect(await keepIndex(db, EVERY_KIND, createFollowerMemory())).toBe('done');
  expect((await readHead(db))?.indexed).toBe('all');
});

it('is looked at where every kind is or may be wanted, until it is whole', async () => {
  const db = await listedLedger(LEDGER);
  const memory = createFollowerMemory();
  const note = (indexed: string) => {
    memory.lastLedger = { generation: 'g', ledger: LEDGER, indexed, parameters: [] };
  };
  note('');
  const unread: Database = {
    prepare() {
      throw new Error('it was looked at');
    },
    batch: async () => [],
  };
  expect(await keepIndex(db, EVERY_KIND, memory)).toBe('done');
  note((await readHead(db))!.indexed);
  expect(await keepIndex(unread, EVERY_KIND, memory)).toBe('done');
  // Time Travel, which leaves the generation as it is
  note('');
  expect(await keepIndex(unread, EVERY_KIND, memory)).toBe('failed');
  expect(await keepIndex(unread, { ...ONLY_NFTS, finalMilestone: 99 }, memory)).toBe('failed');
  expect(await keepIndex(unread, ONLY_NFTS, memory)).toBe('done');
});

it('is filled again after an import into a ledger that is over, while the follower rests', async () => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'over' });
  for (let index = 1; index <= 3; index++) network.milestone();
  const rig = await startLedger(db, network, 0);
  const following = { ...rig.following, indexAll: true, finalMilestone: 3 };
  for (const index of [2, 3]) {
    rig.node.confirm(index);
    await passOnce({ following });
  }
  await startLedger(db, network, 3);
  expect((await readHead(db))?.indexed).toBe('');
  expect(await passOnce({ following })).toMatchObject({ ended: true });
  expect((await readHead(db))?.indexed).toBe('all');
  expect(following.memory.lastLedger?.generation).toBe((await readHead(db))?.generation);
});

it('measures the room for blocks while a milestone waits for a block that is nowhere', async () => {
  const before = { ...UNREFERENCED_LIMITS };
  UNREFERENCED_LIMITS.blocks = 20;
  try {
    const db = await openMemory();
    const { network, rig, root } = await startNew(db, 'no room');
    const lost = network.note([root]);
    network.milestone({ parents: [root, lost] });
    rig.node.confirm(2);
    const readBlock = async (id: string) =>
      `0x${id}` === lost ? undefined : rig.upstream.readBlock(id);
    const upstreams = [{ ...rig.upstream, readBlock, readTips: async () => [] }];
    const following = { ...rig.following, upstreams };
    await passOnce({ following });
    following.memory = createFollowerMemory();
    await passOnce({ following });
    let last = root;
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 10; i++) {
        last = network.note([last], new Uint8Array([round, i]));
        takePushed(following.memory, 'block', network.blocks.get(last)!.bytes);
      }
      await storePushed(following);
      await passOnce({ following });
    }
    expect(await ledgerIndex(db)).toBe(1);
    // one and a half times the limit
    expect((await storedBlocks(db)).length).toBe(30);
  } finally {
    Object.assign(UNREFERENCED_LIMITS, before);
  }
});
