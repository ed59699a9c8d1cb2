/**
 * Rows that a test wrote with SQL of its own get their sums (src/ledger/core/row-sum.ts), and the
 * head the number of unreferenced blocks that there are.
 */
import type { Database } from '../../../src/ledger/core/database.ts';
import { type Cell, rowSum, SUMMED_COLUMNS } from '../../../src/ledger/core/row-sum.ts';
import { readChecksums, Statuses, writeChecksums } from '../../../src/ledger/packs/pack-columns.ts';

type Cells = Record<string, Cell>;

/** @param tables all of those that have a sum, unless some are named */
export async function sealRows(db: Database, ...tables: string[]): Promise<void> {
  const named = tables.length > 0 ? tables : Object.keys(SUMMED_COLUMNS).flatMap(tablesOf);
  if (named.includes('head')) await countUnreferenced(db);
  for (const table of named) {
    const columns = SUMMED_COLUMNS[summedTable(table)];
    const { results } = await db.prepare(`SELECT * FROM ${table}`).all<Cells>();
    const updates = results.flatMap((row) => {
      const sum = rowSum(columns.map((column) => row[column]!));
      if (row.sum === sum) return [];
      const keys = Object.keys(row).filter((column) => column !== 'sum' && column !== 'payload');
      const where = keys.map((column, i) => `${column} IS ?${i + 2}`).join(' AND ');
      const values = keys.map((column) => row[column]!);
      return [db.prepare(`UPDATE ${table} SET sum = ?1 WHERE ${where}`).bind(sum, ...values)];
    });
    if (updates.length > 0) await db.batch(updates);
  }
}

/** The index of IDs has several tables of one kind. */
function tablesOf(table: string): string[] {
  return table === 'id' ? ['id_0', 'id_1', 'id_2', 'id_3', 'id_4'] : [table];
}

function summedTable(table: string): keyof typeof SUMMED_COLUMNS {
  return (table.startsWith('id_') ? 'id' : table) as keyof typeof SUMMED_COLUMNS;
}

async function countUnreferenced(db: Database): Promise<void> {
  const { results: packs } = await db
    .prepare('SELECT key, statuses, sums, blocks, next_block, next_output, live FROM pack')
    .all<Cells>();
  const next = Number(
    (await db.prepare('SELECT next_block FROM head').all<Cells>()).results[0]?.next_block,
  );
  let unreferenced = 0;
  for (const { key, statuses, sums, blocks, next_block, next_output, live } of packs) {
    const whole = {
      ...readChecksums(String(sums)),
      next: Number(next_block) - Number(next_output),
    };
    await db
      .prepare('UPDATE pack SET sums = ?1 WHERE key = ?2')
      .bind(writeChecksums(whole), key)
      .run();
    const read = new Statuses(Uint8Array.fromBase64(String(statuses)));
    const numbers = (JSON.parse(String(blocks)) as [number][]).map(([number]) => number);
    if (live === 1)
      unreferenced += numbers.filter(
        (number, at) => read.milestoneAt(at) === 0 && number < next,
      ).length;
  }
  await db.prepare('UPDATE head SET unreferenced = ?1').bind(unreferenced).run();
}
