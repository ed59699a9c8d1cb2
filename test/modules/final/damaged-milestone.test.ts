/** Damage that makes a ledger look as if nothing were imported (test/ledger/packs/each-check.test.ts). */
import { expect, it } from 'vitest';
import { readFinalLedger } from '../../../src/modules/final/prove-final.ts';
import { startNew } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

it("the key of the ledger's own milestone", async () => {
  const db = await openMemory();
  await startNew(db, 'damaged milestone');
  expect(await readFinalLedger(db, 1)).toBeDefined();
  await db.prepare('UPDATE milestone SET idx = 129 WHERE idx = 1').run();
  await expect(readFinalLedger(db, 1)).rejects.toThrow('rows of the table milestone');
});
