/** Reads of single blocks that the follower fetches (src/follower/bring/bring-blocks.ts). */
import { afterEach, expect, it, vi } from 'vitest';
import type { BringContext } from '../../../src/follower/bring/bring-blocks.ts';
import { createBringer } from '../../../src/follower/bring/bring-blocks.ts';
import { startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

afterEach(() => vi.useRealTimers());

/** A database that answers when it is told to. */
function createHangingContext() {
  const ends: (() => void)[] = [];
  const db: object = {
    prepare: () => db,
    bind: () => db,
    batch: () => new Promise((_, reject) => ends.push(() => reject(new Error('ended')))),
  };
  return { ends, context: { db } as unknown as BringContext };
}

it('a read that waits for half a second is refused, and leaves its place to others', async () => {
  vi.useFakeTimers();
  const { ends, context } = createHangingContext();
  const bringer = createBringer(() => context);
  const errors: string[] = [];
  const read = (client: string) =>
    bringer.readUnstored('ab', client).catch(({ message }: Error) => errors.push(message));
  const reads = Array.from({ length: 10 }, () => read('192.0.2.1'));
  await vi.advanceTimersByTimeAsync(499);
  expect(ends).toHaveLength(4);
  expect(errors).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(errors).toEqual(Array.from({ length: 6 }, () => 'too many requests wait for blocks'));
  for (const end of ends.splice(0)) end();
  await Promise.all(reads);
  expect(ends).toHaveLength(0);
  const later = read('192.0.2.1');
  await vi.advanceTimersByTimeAsync(500);
  expect(ends).toHaveLength(1);
  ends[0]!();
  await later;
  expect(errors).toHaveLength(11);
});

it('a read of a block leaves it in no memory, as strangers read many', async () => {
  const network = new SyntheticNetwork({ seed: 'old read' });
  const old = network.note();
  network.milestone({ parents: [old] });
  network.milestone();
  // the import names neither
  const rig = await startLedger(await openMemory(), network, 2);
  const bringer = createBringer(() => ({ ...rig.following, db: rig.db }));
  const id = old.slice(2);
  expect(await bringer.readUnstored(id, '192.0.2.1')).toBeUndefined();
  expect(rig.following.memory.pool.get(id)).toBeUndefined();
  const young = network.note().slice(2);
  expect(await bringer.readUnstored(young, '192.0.2.1')).toBeDefined();
  expect(rig.following.memory.pool.get(young)).toBeUndefined();
});

it('blocks of a request that has been given up are not brought any more', async () => {
  vi.useFakeTimers();
  const { ends, context } = createHangingContext();
  const bringer = createBringer(() => context);
  const given: unknown[] = [];
  const bring = (id: string) => bringer.bring({ blocks: [id], packs: [] }, '192.0.2.1');
  const all = ['a', 'b', 'c', 'd'].map((id) =>
    bring(id).then(
      (notBrought) => given.push(notBrought),
      () => {},
    ),
  );
  await vi.advanceTimersByTimeAsync(1500);
  const late = { fault: 'upstream-failed', detail: 'too many requests wait for blocks' };
  expect(given).toEqual([late, late]);
  expect(ends).toHaveLength(2);
  for (const end of ends.splice(0)) end();
  await Promise.all(all);
  expect(ends).toHaveLength(0);
});

it('a request waits for its own turn, though a stranger waits for the same block', async () => {
  vi.useRealTimers();
  const { ends, context } = createHangingContext();
  const bringer = createBringer(() => context);
  const bring = (client: string, id: string) =>
    bringer.bring({ blocks: [id], packs: [] }, client).catch(() => undefined);
  // two at once: c waits
  const all = ['a', 'b', 'c'].map((id) => bring('192.0.2.1', id));
  all.push(bring('192.0.2.2', 'c'));
  await new Promise((resolve) => setTimeout(resolve));
  expect(ends).toHaveLength(3);
  const endAll = setInterval(() => {
    for (const end of ends.splice(0)) end();
  });
  await Promise.all(all);
  clearInterval(endAll);
});
