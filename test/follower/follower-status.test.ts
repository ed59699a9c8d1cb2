/** What the follower keeps in D1 for health and metrics, across its own restarts. */
import { expect, it } from 'vitest';
import type { FollowerMemory } from '../../src/follower/follower-context.ts';
import { saveBlocksStatus, saveFollowerState } from '../../src/follower/follower-status.ts';
import { openMemory } from '../support/ledger/memory-database.ts';

const db = await openMemory();

it('keeps the time of the newest block while another object has stored none', async () => {
  await saveFollowerState(db, { state: 'failing', reason: 'so it is' });
  const memoryOf = (newestBlock?: number) =>
    ({ tips: { newestBlock }, upstreams: {} }) as FollowerMemory;
  await saveBlocksStatus(db, 'feed', memoryOf(5000));
  await saveBlocksStatus(db, 'polling', memoryOf());
  const row = await db.prepare('SELECT blocks_by, newest_block FROM follower').first();
  expect(row).toEqual({ blocks_by: 'polling', newest_block: 5 });
});
