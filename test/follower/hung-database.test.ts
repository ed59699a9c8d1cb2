/** A call of D1 that never settles ends some time: the next pass begins anew. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { createFollowerMemory, watchDatabase } from '../../src/follower/follower-context.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { openMemory } from '../support/ledger/memory-database.ts';

it('a call without an answer fails after a quarter of an hour', async () => {
  const db = await openMemory();
  const hung: Database = { prepare: (sql) => db.prepare(sql), batch: () => new Promise(() => {}) };
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const watched = watchDatabase(hung, createFollowerMemory());
  const fails = expect(watched.batch([watched.prepare('SELECT 1')])).rejects.toThrow(
    'D1 does not answer',
  );
  await vi.advanceTimersByTimeAsync(901_000);
  await fails;
  expect(vi.getTimerCount()).toBe(0);
});
