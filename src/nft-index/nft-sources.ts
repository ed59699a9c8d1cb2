/** Sources of lookups: KV, the caches before it, and D1, which has the answer if KV proves none. */
import { headFromRow } from '../ledger/core/head.ts';
import { JOIN_HELD, NFT_COLUMNS, nftFromRow } from '../ledger/core/nft-rows.ts';
import { first, readAlone } from '../ledger/core/read-batch.ts';
import type { Ledger } from '../ledger/open-ledger.ts';
import { createRecentCaches, RememberedReads } from './cached-reads.ts';
import type { NftLedger, NftSources } from './look-up-nft.ts';

const SELECT_NFT = `
  SELECT h.*, ${NFT_COLUMNS} FROM head h LEFT JOIN nft n ON n.id = ?1 ${JOIN_HELD}`;

export function openNftLedger(db: Ledger): NftLedger {
  return {
    async readNft(nftId, latest) {
      const session = db.withSession(latest ? 'first-primary' : 'first-unconstrained');
      const found = first(session.prepare(SELECT_NFT).bind(nftId), (row) => ({
        ledgerIndex: headFromRow(row).ledger,
        output: nftFromRow(row)?.output ?? null,
      }));
      return readAlone(found);
    },
  };
}

/**
 * Opens the sources that lookups of one isolate share.
 *
 * @param versionId absent, and in `serve` (`readGeneration`), `recent` is not cached: miniflare's
 * Cache API is a folder that only grows
 */
export function openNftSources(
  ledger: Ledger,
  index: KVNamespace,
  versionId: string | undefined,
  clock: () => number,
  readGeneration?: NftSources['readGeneration'],
): NftSources {
  return {
    ledger: openNftLedger(ledger),
    index,
    openCache: createRecentCaches(caches, readGeneration ? undefined : versionId),
    remembered: new RememberedReads(),
    readGeneration,
    clock,
  };
}
