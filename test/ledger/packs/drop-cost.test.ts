/**
 * Strangers' transactions with inputs that do not exist wait in their pack for these: to drop them
 * took 90 s where each entry was looked up in a list of all others, and takes 10 ms.
 */
import { expect, it } from 'vitest';
import { Statuses, writeChecksums, writeStatuses } from '../../../src/ledger/packs/pack-columns.ts';
import { dropFromPacks } from '../../../src/ledger/packs/write-pack.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

const [BLOCKS, DROPPED, INPUTS] = [256, 40, 128];

it('blocks with thousands of unknown inputs are dropped at once', async () => {
  const db = await openMemory();
  const sums = { records: 1, statuses: 2, states: 3, next: 0 };
  const idOf = (number: number) => number.toString(16).padStart(68, '0');
  const statuses = writeStatuses(
    Array.from({ length: BLOCKS }, () => ({ milestone: 0, storedAt: 1, reason: 0 })),
  );
  const mentions = Array.from({ length: BLOCKS }, (_, block) =>
    Array.from({ length: block < DROPPED ? INPUTS : 1 }, (_, i) => [
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
  const dropped = new Set(Array.from({ length: DROPPED }, (_, position) => position));
  await db.batch(dropFromPacks(db, view, dropped));
  const kept = rows.slice(DROPPED);
  expect(await readLists(db, 'SELECT blocks, outputs, unresolved FROM pack')).toEqual({
    blocks: kept,
    outputs: mentions.slice(DROPPED),
    unresolved: unresolved.slice(DROPPED * INPUTS),
  });
  expect(await readLists(db, 'SELECT bytes, outputs, details FROM pack_content')).toEqual({
    bytes: bytes.slice(DROPPED),
    outputs: kept,
    details: kept,
  });
});

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

async function readLists(db: Awaited<ReturnType<typeof openMemory>>, sql: string) {
  const row = (await db.prepare(sql).first<Record<string, string>>())!;
  return Object.fromEntries(Object.entries(row).map(([name, text]) => [name, JSON.parse(text)]));
}
