/**
 * The fence of what is written upon the unreferenced blocks.
 */
import type { Database } from '../core/database.ts';
import { failUnless, SAME_HEAD } from '../core/fence.ts';
import type { Head } from '../core/head.ts';
import { SELECT_NEXT } from '../packs/next-numbers.ts';

const SAME_UNREFERENCED = failUnless(
  `${SAME_HEAD} AND (SELECT next_block FROM (${SELECT_NEXT})) IS ?4`,
);

/**
 * Fails when the unreferenced blocks are not those that were read: a milestone was applied, blocks
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
