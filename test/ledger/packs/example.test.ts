/**
 * The example in src/ledger/packs/README.md is true: its rows are the first ones of a ledger that has
 * applied a milestone. `…` in a value of the README stands for what is left out of it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../../../cli/lib/project.ts';
import { followTo, startNew, storeNow, withTips } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

const TABLES = ['pack', 'pack_content', 'milestone_part'] as const;

async function exampleRows(): Promise<Record<string, string>[]> {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'example');
  const spending = network.attachTransaction(network.transfer(network.genesisCoins[0]!, 1), [root]);
  network.milestone({ parents: [spending] });
  const tip = network.note([spending]);
  await storeNow(withTips(rig, tip), db);
  await followTo(rig, 2);
  const rows = TABLES.map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY key`).all());
  return (await Promise.all(rows)).map(({ results }) => {
    return Object.fromEntries(
      Object.entries(results[0]!).map(([column, value]) => [column, String(value)]),
    );
  });
}

/** Columns and values of the tables in the README, by the name of the table of D1. */
function readExample(): Map<string, [column: string, value: string][]> {
  const text = readFileSync(join(PROJECT, 'src/ledger/packs/README.md'), 'utf8');
  const sections = text.matchAll(/^### `(\w+)`$(.*?)(?=^#|$(?![\s\S]))/gms);
  return new Map(
    Array.from(sections, ([, table, section]) => [
      table!,
      Array.from(section!.matchAll(/^- `(\w+)`\s+`([^`]*)`/gm), ([, column, value]) => [
        column!,
        value!,
      ]),
    ]),
  );
}

function isShortFor(short: string, value: string): boolean {
  const parts = short.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*?')}$`).test(value);
}

it('has each value of a row of each table', async () => {
  const rows = await exampleRows();
  const example = readExample();
  expect([...example.keys()]).toEqual([...TABLES]);
  for (const [i, [table, columns]] of [...example].entries()) {
    const row = rows[i]!;
    expect(
      columns.map(([column]) => column),
      table,
    ).toEqual(Object.keys(row));
    const wrong = columns.filter(([column, value]) => !isShortFor(value, row[column]!));
    expect(
      wrong.map(([column, value]) => [table, column, value, row[column]]),
      table,
    ).toEqual([]);
  }
});
