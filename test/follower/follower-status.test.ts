/** What the follower keeps in D1 for health and metrics, across its own restarts. */
import { expect, it } from 'vitest';
import { createFollowerMemory, type FollowerMemory } from '../../src/follower/follower-context.ts';
import {
  noteFailedPass,
  qualifyFollowerState,
  saveBlocksStatus,
  saveFollowerState,
} from '../../src/follower/follower-status.ts';
import { LedgerDamaged } from '../../src/ledger/core/checksum.ts';
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

it('says once that it was restarted, however often it is before an upstream answers', async () => {
  const read = () => db.prepare('SELECT reason FROM follower').first('reason');
  for (const reason of ['so it is', 'and so']) {
    await saveFollowerState(db, { state: 'diverged', reason });
    for (let i = 0; i < 3; i++) await qualifyFollowerState(db);
    expect(await read()).toMatch(new RegExp(`^${reason}; since then the follower was restarted,`));
    expect(await read()).not.toMatch(/restarted.*restarted/);
  }
});

it.each([
  [
    new Error('D1_ERROR: no such column: secret'),
    /^no pass begins: the database or the node failed$/,
  ],
  [new LedgerDamaged('rows of the table head'), /rows of the table head are damaged on disk/],
])('tells everybody no more of what failed than is ours to say: %s', async (error, expected) => {
  const memory = createFollowerMemory();
  for (let i = 0; i < 3; i++) await noteFailedPass(db, memory, error);
  const row = await db.prepare('SELECT state, reason FROM follower').first();
  expect(row).toEqual({ state: 'failing', reason: expect.stringMatching(expected) });
});
