/**
 * Filling the table of lists from the ledger: after an import, and where a version that did not
 * keep it has been at work (docs/storage.md#nft-lists).
 *
 * It goes NFT by NFT in the order of their IDs, a page at a time, each in a batch that also notes
 * in `head.listed_nfts` how far it is. Milestones that are applied meanwhile keep the table
 * (output-changes.ts) and move `head.listed` on with the ledger. Where that has stayed behind, a
 * milestone was applied by a version that knows no table of lists, and it is filled anew.
 */
import { type Database, runBatch } from '../database.ts';
import { failUnless, requireLedger, runFenced } from '../fence.ts';
import { requireSchema } from '../schema.ts';
import { detailOfStored, insertDetails } from './nft-detail.ts';
import { isFilled } from './read-list.ts';

const SELECT_HEAD = 'SELECT schema, generation, ledger, listed, listed_nfts FROM head';

/** The NFTs that come next; none where the table was not begun, or has all. */
const SELECT_NFTS = `
  SELECT n.id AS nft, o.id, o.bytes, o.created_time
  FROM nft n JOIN output o ON o.id = n.output
  WHERE n.id > (SELECT listed_nfts FROM head) ORDER BY n.id LIMIT ?1`;

const CLEAR = 'DELETE FROM nft_detail';

const BEGIN = `UPDATE head SET listed = ledger, listed_nfts = ''`;

const REQUIRE_POSITION = failUnless(
  'EXISTS (SELECT 1 FROM head WHERE listed = ledger AND listed_nfts = ?1)',
);

const MOVE_ON = 'UPDATE head SET listed_nfts = ?1';

/**
 * Fills in up to `pageSize` NFTs, in one batch; returns whether all are there now. Throws a
 * LedgerMoved when the ledger moved meanwhile: then nothing was changed, and the next call goes on.
 */
export async function fillNftLists(db: Database, pageSize: number): Promise<boolean> {
  const [heads, rows] = await runBatch(db, [
    db.prepare(SELECT_HEAD),
    db.prepare(SELECT_NFTS).bind(pageSize),
  ]);
  const head = heads![0];
  if (head === undefined) return true;
  requireSchema(head.schema);
  if (isFilled(head)) return true;
  const moment = { generation: String(head.generation), ledger: Number(head.ledger) };
  const fence = requireLedger(db, moment);
  if (head.listed !== head.ledger || head.listed_nfts === null) {
    await runFenced(db, [fence, db.prepare(CLEAR), db.prepare(BEGIN)]);
    return false;
  }
  const details = rows!.map(({ bytes, id, created_time: time }) =>
    detailOfStored(String(bytes), String(id), Number(time)),
  );
  const last = rows!.length < pageSize ? null : String(rows!.at(-1)!.nft);
  await runFenced(db, [
    fence,
    db.prepare(REQUIRE_POSITION).bind(String(head.listed_nfts)),
    ...insertDetails(db, details),
    db.prepare(MOVE_ON).bind(last),
  ]);
  return last === null;
}
