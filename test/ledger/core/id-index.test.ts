/**
 * How the tables of the index of IDs take turns (src/ledger/write/write-ids.ts), over many milestones
 * and settings that change.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { IdTable } from '../../../src/ledger/core/head.ts';
import { ID_TABLE_COUNT, idTableName } from '../../../src/ledger/core/id-index.ts';
import { turnIntegrity, turnOver } from '../../../src/ledger/write/write-ids.ts';

it('no ID is forgotten before its time, whatever the retention was and is', () => {
  const steps = fc.array(
    fc.record({
      milestones: fc.integer({ min: 0, max: 60 }),
      retention: fc.integer({ min: 1, max: 50 }),
    }),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(steps, (run) => {
      let tables: readonly IdTable[] = [{ table: 0, first: 0 }];
      let ledger = 0;
      let forgotten = -1;
      /** The table that took the IDs of each milestone, and what each table holds. */
      const held = new Map<number, number[]>([[0, [0]]]);
      for (const { milestones, retention } of run) {
        for (let i = 0; i < milestones; i++) {
          ledger++;
          const { table } = tables.at(-1)!;
          held.set(table, [...(held.get(table) ?? []), ledger]);
        }
        const due = turnOver(tables, ledger, retention, 4 * retention);
        if (due === undefined) continue;
        if (due.drop !== undefined) {
          const gone = held.get(due.drop.table) ?? [];
          // all that goes is older than must be kept, and is what is said to be forgotten
          for (const milestone of gone) {
            expect(milestone).toBeLessThan(ledger - 4 * retention);
            expect(milestone).toBeLessThanOrEqual(due.forgotten!);
            expect(milestone).toBeGreaterThan(forgotten);
          }
          held.delete(due.drop.table);
          forgotten = due.forgotten!;
        }
        tables = due.tables;
        expect(new Set(tables.map(({ table }) => table)).size).toBe(tables.length);
        expect(tables.length).toBeLessThanOrEqual(ID_TABLE_COUNT);
        // a table that begins anew holds nothing
        if (due.drop === undefined) expect(held.get(tables.at(-1)!.table) ?? []).toEqual([]);
      }
      const kept = [...held.values()].flat().sort((a, b) => a - b);
      expect(kept).toEqual(Array.from({ length: ledger - forgotten }, (_, i) => forgotten + 1 + i));
    }),
  );
});

it('a scrub goes on where it is, and where its table is gone, with the next one', () => {
  const before = [3, 0, 1].map((table, i) => ({ table, first: 50 * i }));
  const turned = { tables: before.slice(1), drop: before[0], forgotten: 49 };
  const [gone, ...others] = before.map(idTableName);
  const turn = (table: string) => {
    const scrub = { table, after: 'ab', sum: 7 };
    return turnIntegrity({ fingerprints: {}, scrub }, before, turned).scrub;
  };
  for (const table of ['output', ...others, 'nft'])
    expect(turn(table)).toEqual({ table, after: 'ab', sum: 7 });
  expect(turn(gone!)).toEqual({ table: others[0], after: '', sum: 0 });
});

it('in steady work no more than six retentions of IDs are kept', () => {
  let tables: readonly IdTable[] = [{ table: 0, first: 0 }];
  for (let ledger = 1; ledger < 2000; ledger++) {
    // the follower prunes about once a milestone
    const due = turnOver(tables, ledger, 50, 200);
    if (due !== undefined) tables = due.tables;
    expect(ledger - tables[0]!.first).toBeLessThan(300);
  }
});
