/**
 * The head of a ledger that tests and benches fill by hand, where no snapshot could be imported.
 */
import type { Database } from '../../../src/ledger/core/database.ts';
import { SCHEMA } from '../../../src/ledger/core/schema.ts';

const INSERT_HEAD = `
  INSERT INTO head (
    one, schema, generation, genesis, start, ledger, treasury_milestone, treasury_amount,
    next_block, next_output, dropped, id_tables, forgotten)
  VALUES (1, ${SCHEMA}, ?1, 0, ?2, ?3, '', '0', 1, 1, 0, '[[0,1]]', 0)`;

/** @param start the milestone of the import */
export function insertHead(
  db: Database,
  generation: string,
  start: number,
  ledger: number = start,
): D1PreparedStatement {
  return db.prepare(INSERT_HEAD).bind(generation, start, ledger);
}
