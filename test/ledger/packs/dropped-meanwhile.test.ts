/**
 * A milestone's blocks are listed first, and read after that: meanwhile others may be dropped from
 * their packs, which moves those that stay.
 */
import { expect, it } from 'vitest';
import { readMentions } from '../../../src/ledger/packs/referenced-blocks.ts';
import {
  readBlocksWithBytes,
  readMilestoneContents,
} from '../../../src/ledger/read/milestone-contents.ts';
import { readBlock } from '../../../src/ledger/read/stored-block.ts';
import {
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
