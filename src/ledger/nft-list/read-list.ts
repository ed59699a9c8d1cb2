/**
 * A list of NFTs (TIP-26, `outputs/nft`) and the ledger index at which it is true, of one moment.
 */
import type { NftQuery } from '../../stardust/nft-query.ts';
import { type Database, runBatch } from '../core/database.ts';
import { parametersAt, parameterTable, SELECT_PARAMETERS } from '../core/ledger-parameters.ts';
import { requireSchema } from '../core/schema.ts';
import { type ListPage, pageFromRows } from './list-page.ts';
import { listStatements } from './list-statements.ts';

/**
 * `foreign`: an address does not have the network's prefix. `too many`: the list would take more
 * rows than the budget allows.
 */
export type NftList = { ledgerIndex: number } & (
  | ({ ok: true } & ListPage)
  | { ok: false; why: 'foreign'; prefix: string }
  | { ok: false; why: 'too many' }
);

const SELECT_HEAD = 'SELECT schema, ledger FROM head';

/** Undefined where there is no ledger. Throws a LedgerUnreadable where it is another version's. */
export async function readNftList(db: Database, query: NftQuery): Promise<NftList | undefined> {
  const [heads, options, ...walks] = await runBatch(db, [
    db.prepare(SELECT_HEAD),
    db.prepare(SELECT_PARAMETERS),
    ...listStatements(db, query),
  ]);
  const head = heads![0];
  if (head === undefined) return undefined;
  requireSchema(head.schema);
  const ledgerIndex = Number(head.ledger);
  const prefix = parametersAt(parameterTable(options!), ledgerIndex).bech32Hrp;
  if (query.prefixes.some((each) => each !== prefix))
    return { ledgerIndex, ok: false, why: 'foreign', prefix };
  const page = pageFromRows(query, walks);
  if (page === undefined) return { ledgerIndex, ok: false, why: 'too many' };
  return { ledgerIndex, ok: true, ...page };
}
