/**
 * Open packs: the blocks that no milestone references yet. What one pass brought is one row, in
 * parts below 2 MB; what a milestone leaves over, or what is left when old blocks are dropped, is
 * put together anew.
 *
 * The numbers of outputs are one space for all open packs. A pack's key is a block number that was
 * free: so the highest key tells whether blocks were stored meanwhile.
 */
import { concatBytes, fromBase64, toBase64 } from '../stardust/bytes.ts';
import { inputsAt, isUndecidedAt, outputsAt, readCone } from '../stardust/white-flag/cone.ts';
import type { Database } from './database.ts';
import { failUnless, SAME_HEAD } from './fence.ts';
import type { Head } from './head.ts';
import { type OutputState, readStates, splitIntoParts, writeStates } from './packs.ts';

/** An output that a block consumes or creates. */
export interface MentionedOutput {
  number: number;
  /** Hex. */
  id: string;
  /** Base64; of outputs created. Null of those consumed. */
  bytes: string | null;
  /** Hex, where an output created is an NFT. */
  nft: string | null;
}

/** Where a block's bytes are: in base64, or at this place of an open pack. */
export type BlockBytes = string | { key: number; at: number };

export interface OpenBlock {
  number: number;
  /** Hex. */
  id: string;
  /** Payload type (docs/protocol.md, A.1), 0 where it has none. */
  payload: number;
  /** Ledger index when it was stored. */
  seen: number;
  /** Length of its bytes in base64. */
  length: number;
  bytes: BlockBytes;
  record: Uint8Array;
  /** Outputs that its transaction consumes and creates. */
  mentions: readonly MentionedOutput[];
}

/** A block as `open.blocks` has it, and an output as `open.outputs` does. */
export type BlockRow = [number: number, id: string, payload: number, seen: number, length: number];
export type OutputRow = [number: number, id: string, bytes: string | null, nft: string | null];

/** Packs that are read in one go. */
export const READ_AT_ONCE = 32;

/** Columns of an open pack without the bytes of its blocks. */
export const OPEN_COLUMNS = 'key, records, states, blocks, outputs';

export interface OpenPack {
  key: number;
  blocks: OpenBlock[];
  /** Of the outputs that its blocks consume, as of the ledger. */
  states: Map<number, OutputState>;
}

export function openPackFromRow(row: Record<string, unknown>): OpenPack {
  const key = Number(row.key);
  const mentions = new Map(
    (JSON.parse(String(row.outputs)) as OutputRow[]).map(([number, id, bytes, nft]) => [
      number,
      { number, id, bytes, nft },
    ]),
  );
  const cone = readCone([fromBase64(String(row.records))]);
  const blocks = (JSON.parse(String(row.blocks)) as BlockRow[]).map((block, at): OpenBlock => {
    const [number, id, payload, seen, length] = block;
    return {
      number,
      id,
      payload,
      seen,
      length,
      bytes: { key, at },
      record: cone.recordAt(at),
      mentions: [...inputsAt(cone, at), ...outputsAt(cone, at)].map(
        (output) => mentions.get(output)!,
      ),
    };
  });
  const states: OpenPack['states'] = new Map();
  readStates(String(row.states), (number, created, spent) => {
    states.set(number, { created, spent });
  });
  return { key, blocks, states };
}

/** Numbers from which on blocks and outputs are free. */
export interface NextNumbers {
  nextBlock: number;
  nextOutput: number;
}

/**
 * SQL of the JSON of blocks' bytes, given those of `bytesOf` as this parameter: literal ([null,
 * null, base64]) or taken over from open packs ([key, place, null]). NULL if one is missing, which
 * no table takes: the whole batch fails.
 */
function takeBytes(parameter: string): string {
  return `(
    WITH taken AS MATERIALIZED (
      SELECT o.key, e.key AS at, e.value AS bytes FROM open o CROSS JOIN json_each(o.bytes) e
      WHERE o.key IN (SELECT value ->> 0 FROM json_each(${parameter})))
    SELECT CASE WHEN count(*) = count(bytes) THEN json_group_array(bytes ORDER BY place) END
    FROM (
      SELECT b.key AS place, coalesce(b.value ->> 2, t.bytes) AS bytes
      FROM json_each(${parameter}) b
      LEFT JOIN taken t ON t.key = b.value ->> 0 AND t.at = b.value ->> 1))`;
}

/** SQL and its parameter for the bytes of blocks; open packs that they are taken from go later. */
function bytesOf(
  blocks: readonly Pick<OpenBlock, 'bytes'>[],
  parameter: string,
): { sql: string; value: string } {
  const list = blocks.map(({ bytes }) => bytes);
  if (list.every((bytes) => typeof bytes === 'string'))
    return { sql: parameter, value: JSON.stringify(list) };
  const value = list.map((bytes) =>
    typeof bytes === 'string' ? [null, null, bytes] : [bytes.key, bytes.at, null],
  );
  return { sql: takeBytes(parameter), value: JSON.stringify(value) };
}

/**
 * Statements that write open packs. Whatever packs the bytes are taken from must go behind them.
 *
 * @param keyOf the key of the part that begins with this block
 * @param stateOf as of the ledger behind the batch; undefined of outputs that it never had
 */
export function insertOpenPacks(
  db: Database,
  blocks: readonly OpenBlock[],
  next: NextNumbers,
  keyOf: (first: OpenBlock) => number,
  stateOf: (output: number) => OutputState | undefined,
): D1PreparedStatement[] {
  return splitIntoParts(blocks, lengthOf).map((part) => {
    const outputs = new Map<number, OutputRow>();
    const waiting = new Set<string>();
    const states = new Map<number, OutputState>();
    const cone = readCone(part.map(({ record }) => record));
    for (const [at, { mentions }] of part.entries()) {
      for (const { number, id, bytes, nft } of mentions) {
        if (bytes !== null || !outputs.has(number)) outputs.set(number, [number, id, bytes, nft]);
      }
      for (const input of inputsAt(cone, at)) {
        const state = stateOf(input);
        if (state !== undefined) states.set(input, state);
        if (isUndecidedAt(cone, at)) waiting.add(outputs.get(input)![1]);
      }
    }
    const bytes = bytesOf(part, '?10');
    const sql = `
      INSERT INTO open
        (key, next_block, next_output, seen, waiting, records, states, blocks, outputs, bytes)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ${bytes.sql})`;
    return db
      .prepare(sql)
      .bind(
        keyOf(part[0]!),
        next.nextBlock,
        next.nextOutput,
        Math.min(...part.map(({ seen }) => seen)),
        JSON.stringify([...waiting]),
        toBase64(concatBytes(...part.map(({ record }) => record))),
        writeStates(states),
        JSON.stringify(part.map((b): BlockRow => [b.number, b.id, b.payload, b.seen, b.length])),
        JSON.stringify([...outputs.values()]),
        bytes.value,
      );
  });
}

function lengthOf({ length, record, mentions }: OpenBlock): number {
  const contents = mentions.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  return lengthInPack({ length, record, mentions: mentions.length, contents });
}

/**
 * Characters that a block adds to its pack, at most.
 *
 * @param block characters of its bytes, how many outputs it mentions, characters of those created
 */
export function lengthInPack({
  length,
  record,
  mentions,
  contents,
}: {
  length: number;
  record: Uint8Array;
  mentions: number;
  contents: number;
}): number {
  return length + record.length * 1.34 + mentions * 170 + contents + 130;
}

const DELETE_OPEN = 'DELETE FROM open WHERE key IN (SELECT value FROM json_each(?1))';

export function deleteOpenPacks(db: Database, keys: readonly number[]): D1PreparedStatement[] {
  return keys.length === 0 ? [] : [db.prepare(DELETE_OPEN).bind(JSON.stringify(keys))];
}

const SAME_OPEN = failUnless(`${SAME_HEAD} AND (SELECT max(key) FROM open) IS ?4`);

/**
 * Fails when the open blocks are not those that were read: a milestone was applied, blocks were
 * stored or dropped, or an import replaced the ledger.
 *
 * @param last the highest key, undefined where nothing was open
 */
export function requireOpenPacks(
  db: Database,
  { generation, ledger, dropped }: Head,
  last: number | undefined,
): D1PreparedStatement {
  return db.prepare(SAME_OPEN).bind(generation, ledger, dropped, last ?? null);
}
