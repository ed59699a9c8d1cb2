/**
 * Heap of blocks in the follower's object, which has 128 MB for all: what one holds leaves less to
 * the others (src/follower/follower-context.ts).
 */
import { expect, it } from 'vitest';
import { createFollowerMemory, noteLedger } from '../../src/follower/follower-context.ts';
import { readPosition } from '../../src/follower/ledger-position.ts';
import { storePushed } from '../../src/follower/pushed/store-pushed.ts';
import { waitForCalls } from '../../src/ledger/core/wrap-database.ts';
import { measureUnreferenced } from '../../src/ledger/write/drop-blocks.ts';
import { type ParsedBlock, parseBlock } from '../../src/stardust/wire/block.ts';
import { heapOf } from '../../src/upstream/block-pool.ts';
import { startNew, storeNow } from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { blockAround, taggedDataPayload } from '../support/network/blocks.ts';
import { ZERO_ID } from '../support/network/network-model.ts';

const LARGE = 30_000;

/** Blocks of 13 MB. */
const blocks = Array.from({ length: 400 }, (_, i): [id: string, block: ParsedBlock] => {
  const data = taggedDataPayload(Uint8Array.of(i % 256, i / 256), new Uint8Array(LARGE));
  const result = parseBlock(blockAround([ZERO_ID], data));
  if (!result.ok) throw new Error(result.reason);
  return [result.parsed.id.toHex(), result.parsed];
});

it.each([
  ['walks hold', 30_000_000, 0, 4_000_000],
  ['is unreferenced', 0, 70_000_000, 10_000_000],
  ['is unreferenced, however much that is', 0, 90_000_000, 8_000_000],
])('the pool has what is left of what %s', (_, held, unreferenced, left) => {
  const memory = createFollowerMemory();
  memory.fetched.heap = held;
  memory.index = { ...memory.index, heap: () => unreferenced };
  for (const [id, block] of blocks) memory.pool.set(id, block);
  const kept = blocks.filter(([id]) => memory.pool.get(id) !== undefined);
  const heap = kept.reduce((sum, [, block]) => sum + heapOf(block), 0);
  expect(heap).toBeLessThanOrEqual(left);
  expect(heap).toBeGreaterThan(left - 40_000);
});

it('a walk holds what it takes from the pool, which may be filled again meanwhile', async () => {
  const { network, rig, root } = await startNew(await openMemory(), 'held');
  const { memory } = rig.following;
  noteLedger(memory, await readPosition(rig.db, rig.following));
  const ids = [root];
  while (ids.length < 20) ids.push(network.note([ids.at(-1)!]));
  for (const id of ids) memory.pool.push(network.blocks.get(id)!.bytes, Date.now());
  const pooled = ids.map((id) => heapOf(memory.pool.get(id.slice(2))!));
  let most = 0;
  const db = waitForCalls(rig.db, async (run) => {
    most = Math.max(most, memory.fetched.heap);
    return run;
  });
  expect(await storePushed({ ...rig.following, db })).toBe(20);
  expect(most).toBe(pooled.reduce((sum, heap) => sum + heap));
  expect(memory.fetched.heap).toBe(0);
});

it('unreferenced blocks and mentions of outputs take room of each other', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'room of both');
  const [spend] = network.genesisCoins;
  const id = network.attachTransaction(network.transfer(spend!, 1), [root]);
  for (let i = 0; i < 8; i++) network.note([id], Uint8Array.of(i));
  expect(await storeNow(rig, db)).toBe(10);
  const { excess } = await measureUnreferenced(db, { blocks: 10, mentions: 2 });
  expect(excess).toBeGreaterThanOrEqual(2);
});
