/**
 * The readers' side of D1: where KV proves no answer, D1 has it.
 */
import { headFromRow } from '../ledger/core/head.ts';
import { first, type Row, readAlone } from '../ledger/core/read-batch.ts';
import { summedColumns } from '../ledger/core/row-sum.ts';

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
  SELECT h.*, ${summedColumns('nft', 'n', 'nft_')} FROM head h LEFT JOIN nft n ON n.id = ?1`;

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
  if (row.textOrNull('nft_id') !== null) row.requireSum('nft', 'nft_');
  return { ledgerIndex: ledger, output: row.textOrNull('nft_output') };
}
