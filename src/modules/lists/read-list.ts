/**
 * A list of outputs (TIP-26, `outputs` and `outputs/KIND`), or the output of one chain, with the
 * ledger index at which it is true, of one moment.
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import type { Database } from '../../ledger/core/database.ts';
import { selectHead } from '../../ledger/core/head.ts';
import { parametersAt, selectParameters } from '../../ledger/core/ledger-parameters.ts';
import { first, readBatch } from '../../ledger/core/read-batch.ts';
import {
  indexMissing,
  KINDS,
  type NotIndexed,
  needsIndex,
} from '../../ledger/output-list/indexed-kinds.ts';
import { type ListPage, selectPage } from './list-statements.ts';
import type { OutputQuery } from './output-query.ts';

/** `page`: undefined where more rows would be read than the budget allows. */
export type OutputList =
  | { ledgerIndex: number; ok: true; prefix: string; page: ListPage | undefined }
  | NotIndexed;

/** Returns undefined without a ledger. Throws a LedgerUnreadable if it is of another version. */
export async function readOutputList(
  db: Database,
  query: OutputQuery,
): Promise<OutputList | undefined> {
  const { head, parameters, page } = await readBatch(db, {
    head: selectHead(db),
    parameters: selectParameters(db),
    page: selectPage(db, query),
  });
  if (head === undefined) return undefined;
  const missing = query.kinds.some(needsIndex) ? indexMissing(head) : undefined;
  if (missing !== undefined) return missing;
  const ledgerIndex = head.ledger;
  const prefix = parametersAt(parameters, ledgerIndex).bech32Hrp;
  return { ledgerIndex, ok: true, prefix, page };
}

/** The unspent output of an alias or foundry; null where there is none. */
export type OutputOfChain = { ledgerIndex: number; ok: true; outputId: string | null } | NotIndexed;

const SELECT_BY_CHAIN = `
  SELECT o.id, o.chain FROM output_detail d INDEXED BY detail_by_chain
    LEFT JOIN output o ON o.id = lower(hex(d.output))
  WHERE d.chain = unhex(?1) AND d.kind = ?2`;

/**
 * Reads like {@link readOutputList}.
 *
 * @param id hex digits
 */
export async function readOutputOfChain(
  db: Database,
  kind: 'alias' | 'foundry',
  id: string,
): Promise<OutputOfChain | undefined> {
  const { head, found } = await readBatch(db, {
    head: selectHead(db),
    found: first(db.prepare(SELECT_BY_CHAIN).bind(id, KINDS[kind]), (row) => {
      if (row.textOrNull('chain') !== id)
        throw new LedgerDamaged('rows of the table output_detail');
      return row.text('id');
    }),
  });
  if (head === undefined) return undefined;
  return indexMissing(head) ?? { ledgerIndex: head.ledger, ok: true, outputId: found ?? null };
}
