/**
 * Contents of blocks that a milestone references, taken over within D1. Open packs have them
 * already: those of 50,000 blocks would be tens of megabytes to read, and as many to bind.
 *
 * So a statement names blocks by their places, and outputs by their numbers and the pack of a block
 * that mentions them. Blocks that were fetched stand in no pack: what is needed of them is bound.
 */
import { type Database, runBatch } from './database.ts';
import { LedgerMoved } from './fence.ts';
import { type OpenBlock, READ_AT_ONCE } from './open-packs.ts';
import { type OutputState, readStates } from './packs.ts';

/** Where a block stands: in the open pack with this key, or among the fetched blocks. */
export interface Place {
  pack: number;
  at: number;
}

/** In place of the key of a pack, for fetched blocks: no open pack has it. */
export const FETCHED = 0;

/**
 * SQL of a table of blocks: `pack`, `at`, `id` and `payload`. Only what is wanted is taken out of
 * the JSON: a pack may be read for one block of it.
 *
 * @param wanted SELECT of packs and places
 */
export function selectBlocks(wanted: string): string {
  return `
    SELECT pack, at, value ->> 1 AS id, value ->> 2 AS payload
    FROM ${selectEntries('blocks', wanted)} WHERE (pack, at) IN (${wanted})`;
}

/**
 * The same of outputs: `pack`, `number`, `id`, `bytes` and `nft`.
 *
 * @param wanted SELECT of packs and numbers
 */
export function selectOutputs(wanted: string): string {
  return `
    SELECT pack, value ->> 0 AS number, value ->> 1 AS id, value ->> 2 AS bytes,
      value ->> 3 AS nft
    FROM ${selectEntries('outputs', wanted)} WHERE (pack, value ->> 0) IN (${wanted})`;
}

/** The same of the bytes of blocks: `pack`, `at` and `bytes`. */
export function selectBytes(wanted: string): string {
  return `
    SELECT pack, at, value AS bytes
    FROM ${selectEntries('bytes', wanted)} WHERE (pack, at) IN (${wanted})`;
}

function selectEntries(column: string, wanted: string): string {
  return `(
    SELECT s.key AS pack, e.key AS at, e.value
    FROM open s CROSS JOIN json_each(s.${column}) e
    WHERE s.key IN (SELECT pack FROM (${wanted})))`;
}

/** What has to be known of contents that stay in D1. IDs are hex. */
export interface KnownContents {
  /** What the ledger knows of the outputs that blocks consume, by number. */
  states: Map<number, OutputState>;
  /** Characters of the bytes of blocks, by pack and place. */
  blockLengths: Map<number, readonly number[]>;
  /** Characters of the outputs that blocks create, by number. */
  outputLengths: Map<number, number>;
  /** The NFTs among those, by number. */
  nfts: Map<number, { id: string; bytes: string; nft: string }>;
  /** IDs of the outputs that were asked for, by number. */
  ids: Map<number, string>;
}

const SELECT_CONTENTS = `
  SELECT key, states,
    (SELECT json_group_array(value ->> 4 ORDER BY key) FROM json_each(blocks)) AS lengths,
    (SELECT json_group_array(json_array(value ->> 0, ${lengthInSql('value ->> 2', 'value ->> 3')}))
      FROM json_each(outputs) WHERE value ->> 2 IS NOT NULL) AS contents,
    (SELECT json_group_array(json(value)) FROM json_each(outputs)
      WHERE value ->> 2 IS NOT NULL AND value ->> 3 IS NOT NULL) AS nfts,
    (SELECT json_group_array(json_array(value ->> 0, value ->> 1)) FROM json_each(outputs)
      WHERE value ->> 0 IN (SELECT value FROM json_each(?2))) AS ids
  FROM open WHERE key IN (SELECT value FROM json_each(?1))`;

/** SQL of the characters that an output's content takes. */
export function lengthInSql(bytes: string, nft: string): string {
  return `length(${bytes}) + coalesce(length(${nft}), 0)`;
}

/**
 * Reads it of open packs with these keys, in steps, so that few of the texts are there at once: that
 * the packs are those of the view is fenced. Throws a LedgerMoved when one is gone.
 *
 * @param wanted numbers of outputs whose IDs are wanted
 */
export async function readContents(
  db: Database,
  keys: readonly number[],
  wanted: readonly number[],
): Promise<KnownContents> {
  const known: KnownContents = {
    states: new Map(),
    blockLengths: new Map(),
    outputLengths: new Map(),
    nfts: new Map(),
    ids: new Map(),
  };
  for (let first = 0; first < keys.length; first += READ_AT_ONCE) {
    const some = JSON.stringify(keys.slice(first, first + READ_AT_ONCE));
    const statement = db.prepare(SELECT_CONTENTS).bind(some, JSON.stringify(wanted));
    const [rows] = await runBatch(db, [statement]);
    for (const row of rows!) noteContents(known, row);
  }
  if (known.blockLengths.size < keys.length) throw new LedgerMoved('an open pack is gone');
  return known;
}

function noteContents(known: KnownContents, row: Record<string, unknown>): void {
  const read = (column: string) => JSON.parse(String(row[column]));
  readStates(String(row.states), (number, created, spent) => {
    known.states.set(number, { created, spent });
  });
  known.blockLengths.set(Number(row.key), read('lengths'));
  for (const [number, length] of read('contents') as [number, number][])
    known.outputLengths.set(number, length);
  for (const [number, id, bytes, nft] of read('nfts') as [number, string, string, string][])
    known.nfts.set(number, { id, bytes, nft });
  for (const [number, id] of read('ids') as [number, string][]) known.ids.set(number, id);
}

/** Adds the same of fetched blocks. */
export function noteFetched(
  known: KnownContents,
  fetched: readonly OpenBlock[],
  wanted: ReadonlySet<number>,
): void {
  const lengths = fetched.map(({ length }) => length);
  known.blockLengths.set(FETCHED, lengths);
  for (const { number, id, bytes, nft } of fetched.flatMap(({ mentions }) => mentions)) {
    if (wanted.has(number)) known.ids.set(number, id);
    if (bytes === null) continue;
    known.outputLengths.set(number, bytes.length + (nft?.length ?? 0));
    if (nft !== null) known.nfts.set(number, { id, bytes, nft });
  }
}
