/**
 * The batch that replaces a ledger drops tables, which D1 does not bill
 * (src/ledger/import/staging-tables.ts). SQLite deletes the rows of a table that another one refers
 * to one by one, and those that refer to them, before it drops the table.
 */
import { expect, it } from 'vitest';
import { readStagingScript } from '../../../src/ledger/import/staging-tables.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

it('contents are dropped before the packs that they refer to, and created behind them', async () => {
  const { swap } = await readStagingScript(await openMemory());
  const places = [
    'DROP TABLE pack_content',
    'DROP TABLE pack',
    'CREATE TABLE pack ',
    'CREATE TABLE pack_content ',
  ].map((begin) => swap.findIndex((sql) => sql === begin || sql.startsWith(`${begin}(`)));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});
