/**
 * Reads packs, page by page: blocks that a white-flag walk may meet, and states of what they consume
 * (view/consistent-view.ts). A pack's note of an output is kept true while one of its unreferenced
 * blocks consumes the output. So it is true before milestone m if a block of the same pack consumes
 * the output, by the same number, that no milestone before m references. Other notes are not read; a
 * walk for m looks up only outputs with true notes.
 */
import { LedgerState } from '../../stardust/white-flag/walk.ts';
import { LedgerDamaged, readStored } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { selectIds } from '../core/id-index.ts';
import { IdMap } from '../core/id-map.ts';
import { many, type Query, type Row } from '../core/read-batch.ts';
import { renumberOutputs, visitInputs } from './block-record.ts';
import { outputSql, requireOutputSum } from './id-rows.ts';
import { PARTS } from './milestone-part.ts';
import { NumberMap } from './number-map.ts';
import {
  readStates,
  WALKED_COLUMNS,
  type WalkedPack,
  walkedPacksFromRows,
} from './pack-columns.ts';
import { type RecordCone, readCone } from './record-cone.ts';
import { type ViewedPack, visitBlocks } from './viewed-packs.ts';

/**
 * Packs of one batch: some 30,000 blocks. As a parameter it would have SQLite plan the statement
 * for each run, which takes 0.4 ms.
 */
export const PAGE = 128;

/** Packs of one batch where IDs of outputs are read too: up to 12 MB of them. */
export const PAGE_WITH_IDS = 32;

/** Blocks of the largest cone that a request computes roots of: a second's work. */
export const MAX_CONE_BLOCKS = 200_000;

/** Milestones beyond the first whose blocks one request may meet: each page reads their names. */
export const MAX_SPAN = 100;

/** How often packs of several milestones may mention outputs in a view: 30 MB of IDs. */
export const MAX_MENTIONS = 500_000;

/** SQL that is true where one of the visible live packs names this block; the newest come first. */
const isInLivePack = (id: string) =>
  `(SELECT 1 FROM pack o WHERE o.live = 1 AND o.staged IS NULL
    AND instr(o.blocks, '"' || ${id} || '"') > 0 ORDER BY o.key DESC LIMIT 1) IS NOT NULL`;

/** SQL of the columns that a view reads of a pack `p`, given `reach`. */
const VIEWED_COLUMNS = `
  ${WALKED_COLUMNS}, NULL AS unreferenced, NULL AS until, NULL AS blocks, NULL AS several,
  CASE WHEN r.several THEN (
    SELECT json_group_array(json_array(${outputSql.number('e.value')}, ${outputSql.id('e.value')}, ${outputSql.sum('e.value')}))
    FROM json_each(p.outputs) b CROSS JOIN json_each(b.value) e) END AS mentions`;

/** SQL that is true of the packs with unreferenced blocks that the walk may meet. */
const IS_LIVE = 'r.unreferenced AND p.live = 1 AND (p.staged IS NULL OR ?4 AND p.staged = ?2)';

/** SQL that is true if there are more milestones in reach, or blocks of them, than it may meet. */
const IS_TOO_LARGE = `(r.blocks > ${MAX_CONE_BLOCKS} OR coalesce(r.until - ?2, 0) > ${MAX_SPAN})`;

/**
 * ?1 the IDs of the named blocks, ?2 the milestone's index, ?3 the key after which the page begins,
 * ?4 whether the packs staged for this milestone are read too.
 *
 * - Nothing is read for a state that is not known here, which may be millions of milestones ago.
 * - One row without a pack has `unreferenced` (live packs are read), `until` (last milestone read),
 *   `blocks` (number that ?2 to `until` reference) and `several` (blocks are of several milestones).
 * - For the ledger's next milestone no pack is read if a named block is unknown, unless ?4. The
 *   newest packs are searched first, as proposals have their parents there.
 * - No pack is read if milestones reference more than a request may walk.
 * - `mentions` has the IDs of outputs if `several`: an output may have several numbers then.
 * - Keys are sorted and not rows, which would be copied: the rows are in any order.
 */
const SELECT_CONE = `
  WITH
    asked(ledger, ids) AS MATERIALIZED (
      SELECT ledger, CASE WHEN ?2 > ledger THEN '[]' ELSE ?1 END FROM head
      WHERE EXISTS (SELECT 1 FROM milestone WHERE idx = ?2 - 1)),
    found(id, milestone) AS MATERIALIZED (
      SELECT f.id, f.milestone FROM (${selectIds('(SELECT ids FROM asked)')}) f),
    reached(ledger, last, unreferenced) AS MATERIALIZED (
      SELECT ledger, (SELECT max(milestone) FROM found),
        CASE WHEN ?2 > ledger AND NOT ?4 THEN NOT EXISTS (
          SELECT 1 FROM json_each(?1) wanted
          WHERE NOT ${isInLivePack('wanted.value')}
            AND NOT EXISTS (${selectIds('json_array(wanted.value)')}))
        WHEN ?2 > ledger THEN 1 ELSE EXISTS (
        SELECT 1 FROM json_each(asked.ids) j WHERE j.value NOT IN (SELECT id FROM found)
          AND ${isInLivePack('j.value')}) END
      FROM asked),
    reach(ledger, last, unreferenced, until, blocks, several) AS MATERIALIZED (
      SELECT *, (SELECT coalesce(sum(m.blocks), 0) FROM milestone m WHERE m.idx BETWEEN ?2 AND until),
        ?2 <= ledger AND (unreferenced OR coalesce(last > ?2, 0))
      FROM (SELECT *, CASE WHEN unreferenced THEN ledger ELSE last END AS until FROM reached)),
    wanted(key) AS MATERIALIZED (
      SELECT DISTINCT k.value FROM reach r CROSS JOIN milestone_part m ON m.key >= ?2 * ${PARTS}
        AND m.key < (r.until + 1) * ${PARTS}
        CROSS JOIN json_each(m.packs) k
      WHERE NOT ${IS_TOO_LARGE}),
    page(key) AS MATERIALIZED (
      SELECT p.key FROM reach r CROSS JOIN pack p WHERE ${IS_LIVE} AND NOT ${IS_TOO_LARGE} AND p.key > ?3
      UNION SELECT key FROM wanted WHERE key > ?3
      ORDER BY 1 LIMIT iif((SELECT several FROM reach), ${PAGE_WITH_IDS}, ${PAGE}))
  SELECT NULL AS key, NULL AS records, NULL AS statuses, NULL AS states, NULL AS sums,
    NULL AS staged, r.unreferenced, r.until, r.blocks, r.several, NULL AS mentions
  FROM reach r
  UNION ALL
  SELECT ${VIEWED_COLUMNS}
  FROM reach r CROSS JOIN page CROSS JOIN pack p ON p.key = page.key`;

/** Rows of a page; {@link SELECT_CONE} has the meaning of the parameters. */
export function selectConePage(
  db: Database,
  ids: string,
  index: number,
  after: number,
  withStaged: boolean,
): Query<Row[]> {
  return many(db.prepare(SELECT_CONE).bind(ids, index, after, withStaged ? 1 : 0), (row) => row);
}

/** A pack's number of an output to the view's. */
type NumberIn = (own: number) => number;

/** A value beside those of LedgerState. */
const LACKING = 0;

interface ViewedPacks {
  cone: RecordCone;
  packs: ViewedPack[];
  /** States before the milestone, by number. */
  states: NumberMap;
}

/**
 * @param index of the milestone whose states before it are wanted
 * @param nextBlock the free number when the first page was read: blocks from this one on came
 * later, and are left out
 */
export function createPackReader(index: number, nextBlock: number) {
  const states = new NumberMap();
  /** Outputs that the ledger did not hold before the milestone, by the notes of a pack. */
  const lacking = new NumberMap();
  const packs: ViewedPack[] = [];
  const records: Uint8Array[] = [];
  /** Numbers by ID, where the blocks are of several milestones. */
  const numberOf = new IdMap(34);
  let mentioned = 0;
  let first = 0;

  /** Returns one number for each output, whatever numbers it has in the packs. */
  function unify(mentions: string, pack: WalkedPack): NumberIn {
    const own = new Map<number, number>();
    const all: [number, string, number][] = readStored(() => JSON.parse(mentions));
    for (const [number, id, sum] of all) {
      requireOutputSum(number, id, sum);
      own.set(number, numberOf.set(id, 0) + 1);
    }
    mentioned += all.length;
    renumberOutputs(pack.records, (number) => own.get(number)!);
    return (number) => own.get(number)!;
  }

  /** Whether the walk must not meet the block at this place of a pack. */
  function isExcluded({ statuses }: Pick<WalkedPack, 'statuses'>, place: number, block: number) {
    const milestone = statuses.milestoneAt(place);
    return (milestone !== 0 && milestone < index) || block >= nextBlock;
  }

  /**
   * Notes the states of what the walk may look up in this pack. Packs agree on them, except that a
   * block that came when the output's ID was dropped does not know that it was spent.
   */
  function noteStates(consumed: Map<number, number>, pack: WalkedPack, numberIn: NumberIn): void {
    readStates(pack.states, (own, created, spent) => {
      if (created >= index || !consumed.has(own)) return;
      consumed.set(own, spent > 0 && spent < index ? LedgerState.Spent : LedgerState.Unspent);
    });
    for (const [own, state] of consumed) {
      const number = numberIn(own);
      const other = states.get(number);
      if (state === LACKING) lacking.set(number, LACKING);
      else states.set(number, state);
      const isContradicted =
        state === LedgerState.Unspent
          ? other === LedgerState.Spent || lacking.has(number)
          : other === LedgerState.Unspent;
      if (isContradicted) throw new LedgerDamaged(`states of outputs in pack ${pack.key}`);
    }
  }

  return {
    lastKey: () => Math.max(...packs.map(({ key }) => key)),
    /** Returns how many outputs were mentioned so far, if the blocks are of several milestones. */
    add(rows: readonly Row[]): number {
      const page = readStored(() => walkedPacksFromRows(rows));
      records.push(page.records);
      for (const [i, pack] of page.packs.entries()) {
        const mentions = rows[i]!.textOrNull('mentions');
        // by their own numbers: of two numbers of one output one may have notes that are too old
        const consumed = new Map<number, number>();
        visitInputs(
          pack.records,
          (place, block) => isExcluded(pack, place, block),
          (output) => consumed.set(output, LACKING),
        );
        noteStates(consumed, pack, mentions === null ? (own) => own : unify(mentions, pack));
        const { records: _, ...rest } = pack;
        packs.push({ ...rest, first });
        first += pack.statuses.size;
      }
      return mentioned;
    },
    finish(): ViewedPacks {
      const before = new Uint8Array(first);
      visitBlocks(packs, (position, milestone) => {
        if (milestone !== 0 && milestone < index) before[position] = 1;
      });
      const cone = readCone(
        records,
        (position, number) => before[position] === 1 || number >= nextBlock,
      );
      if (cone.size !== first) throw new Error('a pack has more records than statuses, or fewer');
      return { cone, packs, states };
    },
  };
}
