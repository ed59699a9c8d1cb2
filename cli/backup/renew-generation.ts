/**
 * A restored ledger is an import of its own: entries that KV has of it, from later milestones, must
 * not count (docs/nft-index.md#a-ledger-that-was-set-back). So the row of `head` in a back-up gets
 * another generation, with the sum that its other columns and the new one have.
 */
import { rowSum, SUMMED_COLUMNS } from '../../src/ledger/core/row-sum.ts';
import { readInsert } from './cut-statements.ts';

/**
 * The line with another generation where it inserts the row of `head`; else undefined. Throws an
 * Error where the row's sum is not right.
 *
 * @param line of a `wrangler d1 export`
 */
export function renewGeneration(line: string, generation: string): string | undefined {
  if (!line.startsWith('INSERT INTO "head" ')) return undefined;
  const { row } = readInsert(line) ?? {};
  if (row === undefined) throw new Error(`the row of head is no INSERT: ${line.slice(0, 80)}`);
  const sumOf = () =>
    rowSum(SUMMED_COLUMNS.head.map((column) => readValue(row.get(`"${column}"`), column)));
  if (row.get('"sum"') !== String(sumOf())) throw new Error('the row of head is damaged');
  row.set('"generation"', `'${generation}'`);
  row.set('"sum"', String(sumOf()));
  return `INSERT INTO "head" (${[...row.keys()]}) VALUES(${[...row.values()]});`;
}

function readValue(value: string | undefined, column: string): string | number {
  if (value === undefined) throw new Error(`the row of head has no column ${column}`);
  return value.startsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : Number(value);
}
