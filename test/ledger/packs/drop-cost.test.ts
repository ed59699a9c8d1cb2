/**
 * Strangers' transactions with inputs that do not exist wait in their pack for these: to drop them
 * took 90 s where each entry was looked up in a list of all others, and takes 10 ms.
 */
import { expect, it } from 'vitest';
import { Statuses, writeChecksums, writeStatuses } from '../../../src/ledger/packs/pack-columns.ts';
import { dropFromPacks } from '../../../src/ledger/packs/write-pack.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

const [BLOCKS, INPUTS] = [256, 128];

it.each([
  ['dropped', 40, 0, 40],
  ['kept', 1, 1, 34],
])('blocks with thousands of unknown inputs are %s at once', async (_, dropped, from, to) => {
  const db = await openMemory();
  const sums = { records: 1, statuses: 2, states: 3, next: 0 };
  const idOf = (number: number) => number.toString(16).padStart(68, '0');
  const statuses = writeStatuses(
    Array.from({ length: BLOCKS }, () => ({ milestone: 0, storedAt: 1, reason: 0 })),
  );
  const mentions = Array.from({ length: BLOCKS }, (_, block) =>
    Array.from({ length: block >= from && block < to ? INPUTS : 1 }, (_, i) => [
      block * INPUTS + i,
      idOf(block * INPUTS + i),
      1,
    ]),
  );
  const rows = Array.from({ length: BLOCKS }, (_, block) => [block]);
  const bytes = rows.map(String);
  const unresolved = mentions.flat().map(([, id]) => id);
  await db
    .prepare(
      `INSERT INTO pack (key, live, stored_at, last_milestone, next_block, next_output, sums,
        records, statuses, states, unresolved, blocks, outputs)
      VALUES (1, 1, 1, 0, 1, 1, ?1, '', '', '', ?2, ?3, ?4)`,
    )
    .bind(...[writeChecksums(sums), unresolved, rows, mentions].map(asText))
    .run();
  await db
    .prepare('INSERT INTO pack_content (key, bytes, outputs, details) VALUES (1, ?1, ?2, ?2)')
    .bind(asText(bytes), asText(rows))
    .run();
  const pack = { key: 1, first: 0, states: new Uint8Array(), sums, isStaged: false };
  const view = {
    cone: { kindAt: () => 0, recordAt: () => new Uint8Array(120) },
    packs: [{ ...pack, statuses: new Statuses(statuses) }],
  } as unknown as Parameters<typeof dropFromPacks>[1];
  const gone = Array.from({ length: dropped }, (_, position) => position);
  await db.batch(dropFromPacks(db, view, new Set(gone)));
  const kept = rows.slice(dropped);
  expect(await readLists(db, 'SELECT blocks, outputs, unresolved FROM pack')).toEqual({
    blocks: kept,
    outputs: mentions.slice(dropped),
    unresolved: unresolved.slice(mentions.slice(0, dropped).flat().length),
  });
  expect(await readLists(db, 'SELECT bytes, outputs, details FROM pack_content')).toEqual({
    bytes: bytes.slice(dropped),
    outputs: kept,
    details: kept,
  });
});

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

async function readLists(db: Awaited<ReturnType<typeof openMemory>>, sql: string) {
  const row = (await db.prepare(sql).first<Record<string, string>>())!;
  return Object.fromEntries(Object.entries(row).map(([name, text]) => [name, JSON.parse(text)]));
}
