/** What a milestone changed, while an import replaces the ledger. */
import { expect, it } from 'vitest';
import type { Database } from '../../../src/ledger/core/database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { readLedgerChanges } from '../../../src/modules/objects/stored-milestone.ts';
import { startNew } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

it('a milestone that is named by its ID is not answered by that of another ledger', async () => {
  const [before, after] = [await openMemory(), await openMemory()];
  const { network } = await startNew(before, 'import');
  await startNew(after, 'import', { genesisTimestamp: 1_600_000_000 });
  const { id: hex, index } = network.milestones.at(-1)!;
  const id = hex.slice(2);
  let now: Database = before;
  const db: Database = {
    prepare: (sql) => now.prepare(sql),
    async batch<T>(statements: D1PreparedStatement[]) {
      const results = await now.batch<T>(statements);
      now = after;
      return results;
    },
  };
  await expect(readLedgerChanges(db, { id })).rejects.toThrow(LedgerMoved);
  now = before;
  expect(await readLedgerChanges(before, { id })).toMatchObject({ index });
});
