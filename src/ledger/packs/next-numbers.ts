/** Free numbers for blocks and outputs: those that neither the head nor a live pack names. */
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { failUnless, SAME_HEAD } from '../core/fence.ts';
import type { Head } from '../core/head.ts';
import { one, type Query } from '../core/read-batch.ts';
import { STATUS_LENGTH } from './pack-columns.ts';

/** Numbers from which on blocks and outputs are free. */
export interface NextNumbers {
  nextBlock: number;
  nextOutput: number;
}

/**
 * Numbers that live packs have given; those from these on are free. Blocks are only stored in the
 * last visible and the last staged pack.
 */
const SELECT_NEXT = `
  SELECT max(next_block) AS next_block, max(next_output) AS next_output,
    count(*) = coalesce(sum(next_block - next_output = next), 0) AS is_whole,
    (SELECT coalesce(sum(length(statuses)), 0) / ${STATUS_LENGTH} FROM pack
      WHERE live = 1 AND staged = (SELECT ledger + 1 FROM head)) AS staged
  FROM (
    SELECT * FROM (SELECT next_block, next_output, sums ->> 3 AS next FROM pack
      WHERE live = 1 AND staged IS NULL ORDER BY key DESC LIMIT 1)
    UNION ALL SELECT * FROM (SELECT next_block, next_output, sums ->> 3 AS next FROM pack
      WHERE live = 1 AND staged IS NOT NULL ORDER BY staged DESC, key DESC LIMIT 1))`;

/** Numbers that live packs have given up to these; null where none is live. */
export interface GivenNumbers {
  nextBlock: number | null;
  nextOutput: number | null;
  /** How many blocks are staged. */
  staged: number;
}

export function selectGiven(db: Database): Query<GivenNumbers> {
  return one(db.prepare(SELECT_NEXT), (row) => {
    if (row.integer('is_whole') !== 1) throw new LedgerDamaged('next numbers of packs');
    return {
      nextBlock: row.integerOrNull('next_block'),
      nextOutput: row.integerOrNull('next_output'),
      staged: row.integer('staged'),
    };
  });
}

/** @param given read with the head */
export function nextNumbers(head: NextNumbers, given: GivenNumbers): NextNumbers {
  return {
    nextBlock: Math.max(head.nextBlock, given.nextBlock ?? 0),
    nextOutput: Math.max(head.nextOutput, given.nextOutput ?? 0),
  };
}

const SAME_UNREFERENCED = failUnless(
  `${SAME_HEAD} AND (SELECT next_block FROM (${SELECT_NEXT})) IS ?4`,
);

/**
 * Fails if the unreferenced blocks are not those that were read: a milestone was applied, blocks
 * were stored or dropped, or an import replaced the ledger.
 *
 * @param stored the highest next_block of a live pack, null where none was
 */
export function requireSameUnreferenced(
  db: Database,
  { generation, ledger, dropped }: Head,
  stored: number | null,
): D1PreparedStatement {
  return db.prepare(SAME_UNREFERENCED).bind(generation, ledger, dropped, stored);
}
