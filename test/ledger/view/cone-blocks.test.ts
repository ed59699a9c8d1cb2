/** Blocks of a view (src/ledger/view/cone-blocks.ts), of which a stranger may have made many. */
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import { readBlocksInSteps } from '../../../src/ledger/view/cone-blocks.ts';
import { readView } from '../../../src/ledger/view/consistent-view.ts';
import { startNew, storeNow } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

it('are parsed one by one, however many packs are read at once', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'one by one');
  const ids = [network.note([root])];
  while (ids.length < 20) ids.push(network.note([ids.at(-1)!]));
  await storeNow(rig, db);
  const view = (await readView(db, { index: 2, named: [ids.at(-1)!.slice(2)] }))!;
  const numbers = Array.from({ length: view.cone.size }, (_, at) => view.cone.numberAt(at));
  await db.prepare(`UPDATE pack_content SET bytes = json_replace(bytes, '$[#-1]', 'AAAA')`).run();
  const read: number[] = [];
  const readAll = async () => {
    for await (const [index] of readBlocksInSteps(db, view, numbers, 16)) read.push(index);
  };
  await expect(readAll()).rejects.toThrow(LedgerDamaged);
  expect(read).toEqual(Array.from(numbers.keys()).slice(0, -1));
});
