/**
 * NFTs that changed after a milestone, with their states now, of one moment
 * (docs/storage.md#changes-of-nfts).
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import type { Database } from '../../ledger/core/database.ts';
import { milestoneFromRow, selectHeadAt, selectLedger } from '../../ledger/core/head.ts';
import { JOIN_HELD, LISTED_NFT_COLUMNS, nftFromRow } from '../../ledger/core/nft-rows.ts';
import { many, type Row, readBatch } from '../../ledger/core/read-batch.ts';
import { summedColumns } from '../../ledger/core/row-sum.ts';

/** The most changes of an answer. An NFT counts once in each milestone that changed it. */
export const MAX_CHANGES = 10_000;

/** `not kept`: changes after it are not known. `too many`: one has more than {@link MAX_CHANGES}. */
export type NftChanges =
  | {
      ledgerIndex: number;
      ok: true;
      /** The last milestone whose changes are here. */
      to: number;
      /** NFTs by ID with their unspent outputs now, null if burned. Hex digits. */
      changes: [nftId: string, outputId: string | null][];
    }
  | { ledgerIndex: number; ok: false; why: 'not kept' | 'too many' };

/**
 * Changes `c` after milestone ?1, ?2 at most: milestones count theirs, so that it ends before the
 * first that is beyond. None where ?1 is not kept.
 */
const IN_PAGE = `
  c.milestone > ?1 AND c.milestone < coalesce((
    SELECT b.milestone FROM nft_change b JOIN milestone m ON m.idx = b.milestone
    WHERE b.milestone > ?1 AND m.nft_changes >
      coalesce((SELECT nft_changes FROM milestone WHERE idx = ?1), -1 - ?2) + ?2
    ORDER BY b.milestone LIMIT 1), 1e10)`;

const SELECT_LISTS = `
  SELECT c.*, ${summedColumns('milestone', 'm', 'milestone_')}
  FROM nft_change c LEFT JOIN milestone m ON m.idx = c.milestone
  WHERE ${IN_PAGE} ORDER BY c.milestone, c.part`;

const SELECT_STATES = `
  SELECT ${LISTED_NFT_COLUMNS} FROM nft n ${JOIN_HELD} WHERE n.id IN (
    SELECT j.value FROM nft_change c CROSS JOIN json_each(c.nfts) j WHERE ${IN_PAGE})
  ORDER BY n.id`;

/**
 * Returns undefined without a ledger. Throws a LedgerDamaged if a change or a state is missing.
 *
 * @param after up to the ledger index: where the ledger is not there, nothing is kept
 */
export async function readNftChanges(
  db: Database,
  after: number,
  maxChanges = MAX_CHANGES,
): Promise<NftChanges | undefined> {
  const { at, from, lists, states } = await readBatch(db, {
    at: selectLedger(db),
    from: selectHeadAt(db, after),
    lists: many(db.prepare(SELECT_LISTS).bind(after, maxChanges), listFromRow),
    states: many(db.prepare(SELECT_STATES).bind(after, maxChanges), stateFromRow),
  });
  if (at === undefined) return undefined;
  const { ledger: ledgerIndex } = at.head;
  const [first, last] = [from?.milestone?.nftChanges, at.milestone.nftChanges];
  if (first === undefined) return { ledgerIndex, ok: false, why: 'not kept' };
  let total = first;
  const ids = new Set<string>();
  for (const [i, { milestone, nfts, count }] of lists.entries()) {
    total += nfts.length;
    for (const id of nfts) ids.add(id);
    if (lists[i + 1]?.milestone !== milestone && total !== count) throw damaged();
  }
  const isWhole = total === last;
  if (!isWhole && last - first <= maxChanges) throw damaged();
  const to = isWhole ? ledgerIndex : lists.at(-1)?.milestone;
  if (to === undefined) return { ledgerIndex, ok: false, why: 'too many' };
  if (states.length !== ids.size || states.some(([id]) => !ids.has(id))) throw damaged();
  return { ledgerIndex, ok: true, to, changes: states };
}

const damaged = () => new LedgerDamaged('rows of the tables nft_change and nft');

function listFromRow(row: Row) {
  return {
    milestone: row.integer('milestone'),
    nfts: JSON.parse(row.text('nfts')) as string[],
    count: milestoneFromRow(row)?.nftChanges,
  };
}

function stateFromRow(row: Row): [nftId: string, outputId: string | null] {
  const { nft, output } = nftFromRow(row)!;
  return [nft, output];
}
