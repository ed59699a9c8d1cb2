/**
 * A live pack has blocks that a milestone references beside unreferenced ones, and may have them longer
 * than the index of IDs (docs/storage.md#the-index-of-ids): what became of a block is what its pack says.
 */
import { expect, it } from 'vitest';
import { readBlock } from '../../../src/ledger/read/stored-block.ts';
import { readKnownIds } from '../../../src/modules/events/known-ids.ts';
import { followTo, startNew, storeNow } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

it('a block whose ID is forgotten is not called unreferenced', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'forgotten');
  const [referenced, open] = [network.note([root]), network.note([root])].map((id) => id.slice(2));
  await storeNow(rig, db);
  network.milestone({ parents: [root, `0x${referenced}`] });
  await followTo(rig, 2);
  const blocks = [referenced!, open!];
  expect((await readBlock(db, referenced!))?.referenced).toMatchObject({ index: 2 });
  expect(await readKnownIds(db, { blocks, outputs: [] })).toEqual(new Set(blocks));

  for (let table = 0; table < 5; table++)
    await db.prepare(`DELETE FROM id_${table} WHERE id = ?1`).bind(referenced).run();
  expect(await readBlock(db, referenced!)).toBeUndefined();
  expect(await readBlock(db, open!)).toMatchObject({ referenced: undefined });
  expect(await readKnownIds(db, { blocks, outputs: [] })).toEqual(new Set([open]));
});
