/**
 * Damage on disk, of which D1 and KV know nothing: characters and types of cells change. Errors are
 * right from then on, as long as no answer is wrong.
 */
import { readRows } from '../../support/ledger/memory-database.ts';
import type { Random } from '../../support/network/random.ts';
import type { World } from '../world.ts';
import { type Step, type Steps, stepsOf } from './step.ts';

const step = stepsOf('weather', { isDamage: true });

// on Cloudflare KV is the owner's choice, and no disk of the node's
export const damageSteps = {
  flipColumn: step(4, flipColumn),
  flipKv: step(2, flipKv, ({ isServe }) => isServe),
  swapKv: step(1, swapKv, ({ isServe }) => isServe),
} satisfies Steps;

/** How often at once: each time somewhere else. */
const TIMES = [1, 1, 3, 6];

/**
 * Some of these.
 *
 * @param often tables that are damaged oftener
 */
export async function damage(world: World, random: Random, often?: string[]): Promise<void> {
  const steps: Step[] = Object.values({
    ...damageSteps,
    flipColumn: step(4, (own, chance) => flipColumn(own, chance, often)),
  });
  const possible = steps.filter(({ needs }) => needs(world.settings));
  for (let i = random.pick(TIMES); i > 0; i--)
    await random
      .pickWeighted(possible.map((each) => [each.often, each] as const))
      .run(world, random);
}

/** Tables that are damaged oftener: milestones and the index in KV carry on what they say. */
const HELD = ['output', 'nft', 'nft_change', 'pack'];
const HELD_SHARE = 0.5;

/** How often a cell becomes one of another type, where it has another character otherwise. */
const RETYPED_SHARE = 0.3;

/** Columns that say when a row was written; the newest rows are what comes into use soonest. */
const AGES = ['changed', 'created', 'milestone', 'idx', 'key'];
const NEWEST = 6;

/** Hex IDs without 0x that the next milestones may carry on: of open blocks, and what they spend. */
function comingIds({ network: { blocks, transactions } }: World): Set<string> {
  const open = [...blocks.values()].filter(({ referenced }) => referenced === undefined);
  const ids = open.flatMap(({ id }) => [id, ...(transactions.get(id)?.inputs ?? [])]);
  return new Set(ids.map((id) => id.slice(2)));
}

/** One column is damaged, in one row or in several. */
async function flipColumn(world: World, random: Random, often = HELD): Promise<void> {
  const { sqlite } = world.node;
  const tables = await sqlite
    .prepare(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
        AND name <> 'd1_migrations' ORDER BY name`,
    )
    .all<{ name: string }>();
  // each column of a table is as likely as any other
  const columns: { table: string; column: string; rows: Record<string, unknown>[] }[] = [];
  for (const { name: table } of tables.results) {
    const rows = await readRows(sqlite, table);
    for (const column of Object.keys(rows[0] ?? {})) columns.push({ table, column, rows });
  }
  const name = random.pick(often);
  const held = columns.filter((each) => each.table === name);
  const { table, column, rows } = random.pick(
    held.length > 0 && random.chance(HELD_SHARE) ? held : columns,
  );
  const share = random.pick([0, 0, 0.2, 1]);
  const age = AGES.find((each) => rows[0]![each] !== undefined);
  const newest = rows.toSorted((a, b) => Number(b[age!]) - Number(a[age!])).slice(0, NEWEST);
  const coming = comingIds(world);
  const carried = rows.filter((row) => idsIn(row).some((id) => coming.has(id)));
  const known = [rows, age === undefined ? [] : newest, carried];
  const some = random.pick(known.filter(({ length }) => length > 0));
  const chosen = some.filter(() => random.chance(share));
  // a disk does not know them
  sqlite.exec('PRAGMA foreign_keys = OFF');
  let count = 0;
  for (const row of chosen.length > 0 ? chosen : [random.pick(some)]) {
    const value = row[column];
    const isEmpty = value === null || value === '';
    const [cell, given] =
      isEmpty || random.chance(RETYPED_SHARE)
        ? [retyped(value, random), value]
        : ['?1', flip(value, random)];
    try {
      const { meta } = await sqlite
        .prepare(`UPDATE ${table} SET ${column} = ${cell} WHERE ${whereIs(row)}`)
        .bind(given, ...Object.values(row))
        .run();
      count += meta.changes;
      if (meta.changes > 0) for (const id of idsIn(row)) world.suspects.add(id);
    } catch {
      // against a constraint, which SQLite checks when it reads too
    }
  }
  if (count > 0) {
    world.isFlipped = true;
    world.isRowFlipped = true;
  }
  world.note('flipped', `${table}.${column} of ${count} rows`);
}

/** SQL of a condition that this row alone meets: its values are bound from ?2 on. */
export function whereIs(row: Record<string, unknown>): string {
  return Object.keys(row)
    .map((name, i) => `${name} IS ?${i + 2}`)
    .join(' AND ');
}

/** SQL of the value ?1 as one of another type: SQLite keeps any in any column. */
function retyped(value: unknown, random: Random): string {
  if (value === null || value === '') return random.pick(['0', '1']);
  return random.pick(['NULL', typeof value === 'object' ? 'CAST(?1 AS TEXT)' : 'CAST(?1 AS BLOB)']);
}

/** Hex IDs without 0x that a row names. */
function idsIn(row: Record<string, unknown>): string[] {
  return Object.values(row).flatMap((value) => {
    const text = value instanceof Uint8Array ? value.toHex() : String(value);
    return text.match(/\b[0-9a-f]{64}(?:[0-9a-f]{4})?\b/g) ?? [];
  });
}

/** With another character at a place, or another bit. */
export function flip(value: unknown, random: Random): string | number | Uint8Array {
  if (value instanceof Uint8Array || Array.isArray(value)) {
    const bytes = Uint8Array.from(value);
    bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    return bytes;
  }
  const text = String(value);
  const at = random.below(text.length);
  const other = String.fromCharCode(text.charCodeAt(at) ^ random.pick([1, 2, 4]));
  const flipped = text.slice(0, at) + other + text.slice(at + 1);
  if (typeof value !== 'number') return flipped;
  return Number.isSafeInteger(Number(flipped)) && flipped.trim() !== ''
    ? Number(flipped)
    : value ^ 1;
}

function flipKv(world: World, random: Random): void {
  const { kv } = world.node;
  const { entries } = kv;
  if (entries.length === 0) return;
  for (const [key, value] of random.sample(entries, random.between(1, 4))) {
    kv.damage(key, String(flip(value, random)));
    world.suspects.add(key.replace('nft:', ''));
    world.note('flipped in KV', key);
  }
  world.isFlipped = true;
}

/** Two keys have each other's values. */
function swapKv(world: World, random: Random): void {
  const { kv } = world.node;
  const nfts = kv.entries.filter(([, value]) => value.length < 500);
  const [one, other] = random.sample(nfts, 2);
  if (one === undefined || other === undefined) return;
  kv.damage(one[0], other[1]);
  kv.damage(other[0], one[1]);
  world.isFlipped = true;
  world.note('swapped in KV', `${one[0]} ${other[0]}`);
}
