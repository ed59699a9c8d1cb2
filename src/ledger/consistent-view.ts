/**
 * The view of one white-flag request: everything that it may need, in one batch, so that it is all of one moment (design §3).
 *
 * For the milestone with index m the walk stops at blocks that milestones before m reference. What it can reach is then: if all parents are referenced
 * by milestones up to k, the blocks of the milestones m to k and nothing else, as a block is never referenced later than its children; if one of them is
 * referenced by none, the blocks of the milestones from m on and all open ones. Those are read, no matter how many of them the walk will meet. So for the
 * proposal of the next milestone these are the open blocks, and for the audit of a past one the blocks of that milestone.
 */
import { fromBase64Pieces } from '../stardust/bytes.ts';
import type { ParameterTable } from '../stardust/parameter-table.ts';
import { type Cone, readCone } from '../stardust/white-flag/cone.ts';
import { RowMap } from '../stardust/white-flag/row-map.ts';
import { LedgerState } from '../stardust/white-flag/walk.ts';
import { ConeUnavailable } from './block-source.ts';
import { type Database, runBatch } from './database.ts';
import {
  type Head,
  headFromRow,
  type KnownMilestone,
  milestoneFromRow,
  SELECT_HEAD,
} from './head.ts';
import { type KnownBlock, knownBlocks, type RowNumbers, SELECT_BLOCKS } from './known-rows.ts';
import { parameterTable, SELECT_PARAMETERS } from './ledger-parameters.ts';
import type { PreparedBlock } from './prepare-blocks.ts';

export interface ConsistentView {
  head: Head;
  /** The milestone before the one asked for. */
  previous: KnownMilestone | undefined;
  /** Protocol parameters, pending ones too. */
  parameters: ParameterTable;
  /** The named blocks that are known, by ID. */
  named: ReadonlyMap<string, KnownBlock>;
  /** Concatenated records of all blocks that the walk may meet (stardust/record.ts). */
  records: Uint8Array;
  /** By output row, the state before the milestone of every output that one of these blocks consumes. */
  states: RowMap;
}

/** Blocks whose records make one row of the result: 256 of the longest stay below D1's 2 MB a value. */
const CHUNK = 256;

/** The most rows of the result that a request gets. A cone that needs more is not walked for it. */
const MAX_CHUNKS = 800;

/** The same for the follower, which cannot go round it: as many as open blocks are kept (follow/store-tips.ts), should each stand by itself. */
export const MAX_CHUNKS_TO_FOLLOW = 100_000;

/**
 * ?1 the IDs of the named blocks, ?2 the milestone's index, ?3 the most rows. Nothing is read for a state that is not known here: there may be millions of
 * milestones after it. One concatenation a stretch of blocks, for records and for states: a row a block takes three times as long.
 */
const SELECT_CONE = `
  WITH RECURSIVE
    named(milestone) AS (
      SELECT b.milestone FROM json_each(?1) j JOIN block b ON b.id = j.value
      WHERE EXISTS (SELECT 1 FROM milestone WHERE idx = ?2 - 1)
    ),
    reach(open, last) AS (
      SELECT max(milestone IS NULL), CASE WHEN max(milestone IS NULL) THEN (SELECT ledger FROM head) ELSE max(milestone) END FROM named
    ),
    closed(milestone) AS (
      SELECT CAST(?2 AS INTEGER) FROM reach WHERE last >= ?2
      UNION ALL SELECT milestone + 1 FROM closed WHERE milestone < (SELECT last FROM reach)
    ),
    level(milestone) AS (SELECT milestone FROM closed UNION ALL SELECT NULL FROM reach WHERE open),
    span(milestone, first, last) AS (
      SELECT milestone,
        (SELECT b.row FROM block b WHERE b.milestone IS level.milestone ORDER BY b.row LIMIT 1),
        (SELECT b.row FROM block b WHERE b.milestone IS level.milestone ORDER BY b.row DESC LIMIT 1)
      FROM level
    ),
    chunk(milestone, first, last) AS (
      SELECT milestone, first, last FROM span WHERE first IS NOT NULL
      UNION ALL SELECT milestone, (
        SELECT b.row FROM block b WHERE b.milestone IS chunk.milestone AND b.row >= chunk.first + ${CHUNK} ORDER BY b.row LIMIT 1
      ), last FROM chunk WHERE first + ${CHUNK} <= last
    )
  SELECT
    (
      SELECT CASE count(*) WHEN count(b.record) THEN group_concat(b.record, '') END FROM block b
      WHERE b.milestone IS chunk.milestone AND b.row >= chunk.first AND b.row < chunk.first + ${CHUNK}
    ) AS records,
    (
      SELECT group_concat(CASE WHEN o.spent < ?2 THEN -o.row ELSE o.row END)
      FROM block b CROSS JOIN input i ON i.block = b.row CROSS JOIN output o ON o.row = i.output
      WHERE b.milestone IS chunk.milestone AND b.row >= chunk.first AND b.row < chunk.first + ${CHUNK} AND o.created < ?2
    ) AS states
  FROM chunk LIMIT ?3`;

/**
 * Undefined when nothing was imported. Throws a ConeUnavailable, `too-large`, when the cone cannot
 * be read at once.
 */
export async function readView(
  db: Database,
  index: number,
  named: readonly string[],
  maxChunks = MAX_CHUNKS,
): Promise<ConsistentView | undefined> {
  const ids = JSON.stringify(named);
  const [heads, options, blocks, parts] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(index - 1),
    db.prepare(SELECT_PARAMETERS),
    db.prepare(SELECT_BLOCKS).bind(ids),
    db.prepare(SELECT_CONE).bind(ids, index, maxChunks + 1),
  ]);
  const row = heads![0];
  if (row === undefined) return undefined;
  if (parts!.length > maxChunks) {
    throw new ConeUnavailable('too-large', `a cone of more than ${maxChunks} stretches of blocks`);
  }

  const previous = milestoneFromRow(row);
  const states = new RowMap();
  for (const part of parts!) readStates(String(part.states ?? ''), states);
  return {
    head: headFromRow(row),
    previous,
    parameters: parameterTable(options!),
    named: knownBlocks(blocks!),
    // of a state that cannot be asked for any more, records may be gone
    records: previous === undefined ? new Uint8Array(0) : fromBase64Pieces(parts!.map(readRecords)),
    states,
  };
}

export interface LoadedCone {
  view: ConsistentView;
  cone: Cone;
  /** Rows of the proposal's parents, in their order. */
  parents: number[];
  /** Blocks that D1 does not have, parents first. */
  fetched: PreparedBlock[];
  /** The rows that they and their outputs were given. */
  rows: RowNumbers | undefined;
}

/**
 * The cone of these parents, where D1 has all of it; undefined where a parent is not known.
 *
 * @param parents hex IDs
 */
export function storedCone(
  view: ConsistentView,
  parents: readonly string[],
): LoadedCone | undefined {
  if (parents.some((id) => !view.named.has(id))) return undefined;
  const cone = readCone([view.records]);
  return { view, cone, parents: rowsOf(parents, view.named), fetched: [], rows: undefined };
}

export function rowsOf(ids: readonly string[], known: ReadonlyMap<string, KnownBlock>): number[] {
  return ids.map((id) => known.get(id)!.row);
}

/** A block without its record would look like one that an earlier milestone references. */
function readRecords({ records }: Record<string, unknown>): string {
  if (records === null) throw new Error('a block that a walk may meet has lost its record');
  return String(records);
}

/** Output rows apart by commas, those of spent outputs negative. */
function readStates(list: string, states: RowMap): void {
  if (list === '') return;
  for (const text of list.split(',')) {
    const row = Number(text);
    states.set(Math.abs(row), row < 0 ? LedgerState.Spent : LedgerState.Unspent);
  }
}
