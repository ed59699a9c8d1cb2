/**
 * A list of NFTs (TIP-26, `outputs/nft`) and the ledger index at which it is true, of one moment.
 */
import type { NftQuery } from '../../stardust/nft-query.ts';
import type { Database } from '../core/database.ts';
import { selectHead } from '../core/head.ts';
import { parametersAt, selectParameters } from '../core/ledger-parameters.ts';
import { readBatch } from '../core/read-batch.ts';
import { type ListPage, selectPage } from './list-page.ts';

/**
 * `foreign`: an address does not have the network's prefix. `too many`: the list would take more
 * rows than the budget allows.
 */
export type NftList = { ledgerIndex: number } & (
  | ({ ok: true } & ListPage)
  | { ok: false; why: 'foreign'; prefix: string }
  | { ok: false; why: 'too many' }
);

/** Undefined where there is no ledger. Throws a LedgerUnreadable where it is another version's. */
export async function readNftList(db: Database, query: NftQuery): Promise<NftList | undefined> {
  const { head, parameters, page } = await readBatch(db, {
    head: selectHead(db),
    parameters: selectParameters(db),
    page: selectPage(db, query),
  });
  if (head === undefined) return undefined;
  const ledgerIndex = head.ledger;
  const prefix = parametersAt(parameters, ledgerIndex).bech32Hrp;
  if (query.prefixes.some((each) => each !== prefix))
    return { ledgerIndex, ok: false, why: 'foreign', prefix };
  if (page === undefined) return { ledgerIndex, ok: false, why: 'too many' };
  return { ledgerIndex, ok: true, ...page };
}
