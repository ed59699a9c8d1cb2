/**
 * The SQL of a page of the packs that a white-flag walk may meet (consistent-view.ts).
 */

import { PARTS } from '../core/database.ts';
import { selectIds } from '../core/id-index.ts';
import { WALKED_COLUMNS } from './pack-columns.ts';

/**
 * Packs of one batch: some 30,000 blocks. Not a parameter: SQLite would plan the statement anew for
 * each run, which takes 0.4 ms.
 */
export const PAGE = 128;

/** Blocks of the largest cone that a request computes roots of: a second's work. */
export const MAX_CONE_BLOCKS = 200_000;

/** SQL that is true where one of the visible live packs names this block; the newest come first. */
const isInLivePack = (id: string) =>
  `(SELECT 1 FROM pack o WHERE o.live = 1 AND o.staged IS NULL
    AND instr(o.blocks, '"' || ${id} || '"') > 0 ORDER BY o.key DESC LIMIT 1) IS NOT NULL`;

/** SQL of the columns that a view reads of a pack `p`, given `reach`. */
const VIEWED_COLUMNS = `
  ${WALKED_COLUMNS}, r.unreferenced, r.until, r.blocks, CASE WHEN ?2 <= r.ledger AND (r.unreferenced OR r.last > ?2) THEN (
    SELECT json_group_array(json_array(e.value ->> 0, e.value ->> 1, e.value ->> 2))
    FROM json_each(p.outputs) b CROSS JOIN json_each(b.value) e) END AS mentions`;

/** SQL that is true of the packs with unreferenced blocks that the walk may meet. */
const IS_LIVE = 'r.unreferenced AND p.live = 1 AND (p.staged IS NULL OR ?4 AND p.staged = ?2)';

/** SQL that is true where the milestones that the walk may reach reference more than it may meet. */
const IS_TOO_LARGE = `(r.blocks > ${MAX_CONE_BLOCKS})`;

/**
 * ?1 the IDs of the named blocks, ?2 the milestone's index, ?3 the key after which the page begins,
 * ?4 whether the packs staged for this milestone are read too.
 *
 * - Nothing is read for a state that is not known here: there may be millions of milestones after
 *   it.
 * - About the ledger's next milestone one row without a pack is returned where a named block is
 *   unknown, unless ?4: there is no answer then. The newest packs are searched first, as that is
 *   where proposals have their parents.
 * - One row without a pack is returned where milestones reference more than a request may walk.
 * - `mentions` has the IDs of outputs where the blocks are of more than one milestone: an output may
 *   have several numbers then.
 * - Each row repeats whether live packs are read, and up to which milestone those of milestones,
 *   with the number of blocks that these reference.
 * - Keys are sorted and not rows, which would be copied: the rows are in any order.
 */
export const SELECT_CONE = `
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
    reach(ledger, last, unreferenced, until, blocks) AS MATERIALIZED (
      SELECT *, (SELECT coalesce(sum(m.blocks), 0) FROM milestone m WHERE m.idx BETWEEN ?2 AND until)
      FROM (SELECT *, CASE WHEN unreferenced THEN ledger ELSE last END AS until FROM reached)),
    wanted(key) AS MATERIALIZED (
      SELECT DISTINCT k.value FROM reach r CROSS JOIN milestone_part m ON m.key >= ?2 * ${PARTS}
        AND m.key < (r.until + 1) * ${PARTS}
        CROSS JOIN json_each(m.packs) k
      WHERE NOT ${IS_TOO_LARGE}),
    page(key) AS MATERIALIZED (
      SELECT p.key FROM reach r CROSS JOIN pack p WHERE ${IS_LIVE} AND NOT ${IS_TOO_LARGE} AND p.key > ?3
      UNION SELECT key FROM wanted WHERE key > ?3
      ORDER BY 1 LIMIT ${PAGE})
  SELECT NULL AS key, NULL AS records, NULL AS statuses, NULL AS states, NULL AS sums,
    NULL AS staged, NULL AS unreferenced, NULL AS until, r.blocks, NULL AS mentions
  FROM reach r WHERE ?2 > r.ledger AND NOT r.unreferenced OR ${IS_TOO_LARGE}
  UNION ALL
  SELECT ${VIEWED_COLUMNS}
  FROM reach r CROSS JOIN page CROSS JOIN pack p ON p.key = page.key`;
