/**
 * Owners of an issuer's NFTs with their counts, of one moment: one walk along the index of issuers
 * (docs/storage.md#lists).
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import type { Database } from '../../ledger/core/database.ts';
import { selectHeadAt } from '../../ledger/core/head.ts';
import { parametersAt, selectParameters } from '../../ledger/core/ledger-parameters.ts';
import { many, readBatch } from '../../ledger/core/read-batch.ts';
import { Reader } from '../../stardust/encoding/bytes.ts';
import { decode } from '../../stardust/encoding/codec.ts';
import { type Address, type AddressKey, address } from '../../stardust/wire/address.ts';
import { OutputType } from '../../stardust/wire/output.ts';

/** The most NFTs of a collection whose owners are counted: some 250,000 rows, 65 ms for D1. */
export const MAX_COLLECTION = 50_000;

export interface OwnersQuery {
  issuer: AddressKey;
  /** The human-readable prefix of the issuer's address: it must be the network's. */
  prefix: string;
  pageSize: number;
  /** The page begins with the first owner that is not before this one; empty: the first of all. */
  from: AddressKey;
}

export interface OwnerCount {
  address: Address;
  nftCount: number;
}

/** `foreign`: not the network's prefix. `too many`: more NFTs than are counted. */
export type CollectionOwners =
  | {
      ok: true;
      ledgerIndex: number;
      prefix: string;
      /** Number of NFTs of the whole collection. */
      nftCount: number;
      ownerCount: number;
      /** Owners in the order of their addresses' keys. */
      owners: OwnerCount[];
      /** Beginning of the next page. */
      next: AddressKey | undefined;
    }
  | { ok: false; ledgerIndex: number; why: 'foreign'; prefix: string }
  | { ok: false; ledgerIndex: number; why: 'too many' };

/** S2.3: from the second of its expiration on an output belongs to the return address. */
const SELECT_OWNERS = `
  WITH held AS (
      SELECT CASE
        WHEN expiration <= (SELECT timestamp FROM milestone WHERE idx = (SELECT ledger FROM head))
        THEN expiration_return ELSE address END AS owner
      FROM output_detail INDEXED BY detail_by_issuer
      WHERE issuer = unhex(?1) AND kind = ${OutputType.Nft} LIMIT ${MAX_COLLECTION + 1}),
    counted AS MATERIALIZED (SELECT owner, count(*) AS nfts FROM held GROUP BY owner)
  SELECT whole.owners AS all_owners, whole.nfts AS all_nfts, lower(hex(page.owner)) AS owner,
    coalesce(page.nfts, 0) AS nfts
  FROM (SELECT count(*) AS owners, coalesce(sum(nfts), 0) AS nfts FROM counted) whole
    LEFT JOIN (SELECT * FROM counted WHERE owner >= unhex(?2) ORDER BY owner LIMIT ?3) page
  ORDER BY page.owner`;

/** Undefined where there is no ledger. Throws a LedgerUnreadable where it is another version's. */
export async function readCollectionOwners(
  db: Database,
  { issuer, prefix: asked, pageSize, from }: OwnersQuery,
): Promise<CollectionOwners | undefined> {
  const { at, parameters, rows } = await readBatch(db, {
    at: selectHeadAt(db),
    parameters: selectParameters(db),
    // one more than the page has
    rows: many(db.prepare(SELECT_OWNERS).bind(issuer, from, pageSize + 1), (row) => ({
      ownerCount: row.integer('all_owners'),
      nftCount: row.integer('all_nfts'),
      key: row.text('owner'),
      held: row.integer('nfts'),
    })),
  });
  if (at === undefined) return undefined;
  const ledgerIndex = at.head.ledger;
  if (at.milestone === undefined) throw new LedgerDamaged("the ledger's milestone");
  const prefix = parametersAt(parameters, ledgerIndex).bech32Hrp;
  if (asked !== prefix) return { ok: false, ledgerIndex, why: 'foreign', prefix };
  const { ownerCount, nftCount } = rows[0]!;
  if (nftCount > MAX_COLLECTION) return { ok: false, ledgerIndex, why: 'too many' };
  // the row of a page without owners has the counts alone
  const listed = rows.filter(({ held }) => held > 0);
  const owners = listed.slice(0, pageSize).map(({ key, held }) => ({
    address: decode(address, new Reader(Uint8Array.fromHex(key))),
    nftCount: held,
  }));
  const next = listed[pageSize]?.key;
  return { ok: true, ledgerIndex, prefix, nftCount, ownerCount, owners, next };
}
