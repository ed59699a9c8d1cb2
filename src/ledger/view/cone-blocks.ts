/**
 * Blocks of a view, by their numbers: their bytes are read from where the view saw them.
 */
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { type ParsedBlock, parseBlock } from '../../stardust/wire/block.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import { many, one, readAlone, readQuery } from '../core/read-batch.ts';
import type { RecordCone } from '../packs/record-cone.ts';
import { isBlockAt, packAt } from '../packs/viewed-packs.ts';
import type { ConsistentView } from './consistent-view.ts';

/** ?1 rows of pack and place. */
const SELECT_BYTES = `
  WITH named AS MATERIALIZED (SELECT value ->> 0 AS pack, value ->> 1 AS at FROM json_each(?1))
  SELECT p.key, b.key AS at, b.value AS bytes FROM pack_content p CROSS JOIN json_each(p.bytes) b
  WHERE p.key IN (SELECT pack FROM named) AND (p.key, b.key) IN (SELECT pack, at FROM named)`;

/**
 * Blocks of the cone, by their numbers, from where the view saw them. Throws a LedgerDamaged where one
 * is not there.
 */
export async function readBlocks(
  db: Database,
  view: ConsistentView,
  numbers: readonly number[],
): Promise<ParsedBlock[]> {
  const bytesOf = new Map<number, Uint8Array>();
  const places = new Map(numbers.map((number) => [placeOf(view, number).join(), number]));
  const named = Array.from(places.keys(), (place) => place.split(',').map(Number));
  for (const statement of forEachPiece(db, SELECT_BYTES, named)) {
    const query = many(statement, (row) => {
      const number = places.get(`${row.integer('key')},${row.integer('at')}`)!;
      return [number, fromBase64(row.text('bytes'))] as const;
    });
    for (const [number, bytes] of await readQuery(db, query)) bytesOf.set(number, bytes);
  }
  return numbers.map((number) => parseSame(bytesOf.get(number), view.cone, number));
}

/**
 * The same in steps of a pack, up to 800,000 characters, for those who need each block for a moment:
 * in the order of the packs, each with its place among the numbers.
 */
export async function* readBlocksInSteps(
  db: Database,
  view: ConsistentView,
  numbers: readonly number[],
): AsyncGenerator<[place: number, block: ParsedBlock][]> {
  for (const some of placesByPack(view, numbers).values()) {
    const blocks = await readBlocks(
      db,
      view,
      some.map((place) => numbers[place]!),
    );
    yield some.map((place, i) => [place, blocks[i]!]);
  }
}

const SELECT_SIZE = `
  SELECT coalesce(sum(octet_length(bytes)), 0) AS length FROM pack_content
  WHERE key IN (SELECT value FROM json_each(?1))`;

/** Characters that have to be read for the bytes of these blocks: those of their packs. */
export async function measureBlocks(
  db: Database,
  view: ConsistentView,
  numbers: readonly number[],
): Promise<number> {
  const keys = JSON.stringify([...placesByPack(view, numbers).keys()]);
  return readAlone(one(db.prepare(SELECT_SIZE).bind(keys), (row) => row.integer('length')));
}

/** Places among the numbers, by the key of the pack that holds the block. */
function placesByPack(view: ConsistentView, numbers: readonly number[]): Map<number, number[]> {
  const places = new Map<number, number[]>();
  for (const [place, number] of numbers.entries()) {
    const [key] = placeOf(view, number);
    const known = places.get(key);
    if (known === undefined) places.set(key, [place]);
    else known.push(place);
  }
  return places;
}

/** The pack that holds the block, and its position there. */
function placeOf({ cone, packs }: ConsistentView, number: number): [pack: number, at: number] {
  const position = cone.find(number);
  const { key, first } = packs[packAt(packs, position)]!;
  return [key, position - first];
}

/** The block behind these bytes, if it is the one that the cone has under this number. */
function parseSame(bytes: Uint8Array | undefined, cone: RecordCone, number: number): ParsedBlock {
  const result = bytes && parseBlock(bytes);
  const position = cone.find(number);
  if (result?.ok && (position < 0 || isBlockAt(cone, position, result.parsed.id))) {
    return result.parsed;
  }
  throw new LedgerDamaged(`bytes of block number ${number}`);
}
