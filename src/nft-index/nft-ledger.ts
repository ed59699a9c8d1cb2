/**
 * The readers' side of D1: where KV proves no answer, D1 has it.
 */
import { headFromRow } from '../ledger/core/head.ts';
import { JOIN_HELD, NFT_COLUMNS, nftFromRow } from '../ledger/core/nft-row.ts';
import { first, type Row, readAlone } from '../ledger/core/read-batch.ts';

/** Tests put a model in its place. */
export interface NftLedger {
  /**
   * @param latest whether a replica, which may lag behind, must not answer
   * @returns undefined where there is no ledger
   */
  readNft(
    nftId: string,
    latest: boolean,
  ): Promise<{ ledgerIndex: number; output: string | null } | undefined>;
}

const SELECT_NFT = `
  SELECT h.*, ${NFT_COLUMNS} FROM head h LEFT JOIN nft n ON n.id = ?1 ${JOIN_HELD}`;

export function openNftLedger(db: D1Database): NftLedger {
  return {
    async readNft(nftId, latest) {
      const session = db.withSession(latest ? 'first-primary' : 'first-unconstrained');
      return readAlone(first(session.prepare(SELECT_NFT).bind(nftId), currentFromRow));
    },
  };
}

function currentFromRow(row: Row): { ledgerIndex: number; output: string | null } {
  const { ledger } = headFromRow(row);
  return { ledgerIndex: ledger, output: nftFromRow(row)?.output ?? null };
}
