/**
 * A milestone's blocks are listed first, and read after that: meanwhile others may be dropped from
 * their packs, which moves those that stay.
 */
import { expect, it } from 'vitest';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { readMentions } from '../../../src/ledger/packs/referenced-blocks.ts';
import {
  readBlocksWithBytes,
  readMilestoneContents,
  readSpentOutputs,
} from '../../../src/ledger/read/milestone-contents.ts';
import { readBlock } from '../../../src/ledger/read/stored-block.ts';
import {
  disturbed,
  followTo,
  issueQuiet,
  passOnce,
  startNew,
  storeNow,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

/** Milestones after which an orphan is dropped, at this below-max-depth. */
const ORPHANED_AFTER = 14;

it('blocks are found where they are after others were dropped from their pack', async () => {
  const db = await openMemory();
  const parameters = { belowMaxDepth: 1 };
  const { network, rig, root } = await startNew(db, 'dropped', { parameters });
  const orphan = network.note([root]);
  const [coin] = network.genesisCoins;
  const made = network.transfer(coin!, 1);
  const block = network.attachTransaction(made, [root]);
  await storeNow(rig, db);
  network.milestone({ parents: [root, block] });
  await followTo(rig, 2);
  const { contents } = await readMilestoneContents(db, 2, true);

  for (let i = 0; i < ORPHANED_AFTER; i++) await issueQuiet(rig, network);
  await passOnce(rig);
  expect(await readBlock(db, orphan.slice(2))).toBeUndefined();

  const blocks = await Array.fromAsync(readBlocksWithBytes(db, contents!, new Map()));
  expect(blocks.map(({ bytes }) => bytes)).toEqual(
    contents!.blocks.map(({ id }) => network.blocks.get(`0x${id}`)!.bytes),
  );
  const applied = contents!.blocks.filter(({ reason }) => reason === 0);
  const mentions = (await Array.fromAsync(readMentions(db, applied))).flat();
  expect(mentions.map(({ id, isCreated }) => [`0x${id}`, isCreated])).toEqual([
    [made.inputs[0], false],
    [`0x${made.coins[0]!.id.toHex()}`, true],
  ]);
});

it('what a milestone spent is told to its end or not, though it is pruned meanwhile', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'pruned meanwhile');
  const spends = network.genesisCoins.slice(0, 6).map((coin) => network.transfer(coin, 1));
  const blocks = spends.map((made) => network.attachTransaction(made, [root]));
  network.milestone({ parents: [root, ...blocks] });
  await followTo(rig, 2);
  // as of a milestone that spends thousands: a part has one output
  const { results } = await db.prepare('SELECT * FROM milestone_part WHERE key >= 8192').all();
  const [{ key, packs, blocks: numbers, sum, spent }] = results as [Record<string, string>];
  const rows: unknown[] = JSON.parse(spent!);
  expect(rows).toHaveLength(6);
  await db.prepare('DELETE FROM milestone_part WHERE key = ?1').bind(key).run();
  for (const [i, row] of rows.entries())
    await db
      .prepare(
        'INSERT INTO milestone_part (key, packs, blocks, sum, spent) VALUES (?1, ?2, ?3, ?4, ?5)',
      )
      .bind(Number(key) + i, packs, numbers, sum, JSON.stringify([row]))
      .run();
  const { contents } = await readMilestoneContents(db, 2, false);
  expect((await Array.fromAsync(readSpentOutputs(db, contents!))).flat()).toHaveLength(6);
  const meanwhile = disturbed(db, async (_, batch) => {
    if (batch !== 2) return;
    await db.prepare('DELETE FROM milestone WHERE idx = 2').run();
    await db.prepare('DELETE FROM milestone_part WHERE key >= 8192').run();
  });
  await expect(Array.fromAsync(readSpentOutputs(meanwhile, contents!))).rejects.toThrow(
    LedgerMoved,
  );
});
