/**
 * A page of the NFTs of an address or an issuer, with their whole outputs, of one moment.
 */
import type { OutputQuery, Position } from '../../stardust/output-query.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { selectHeadAt } from '../core/head.ts';
import { parametersAt, selectParameters } from '../core/ledger-parameters.ts';
import { many, type Query, readBatch } from '../core/read-batch.ts';
import { summedColumns } from '../core/row-sum.ts';
import { pageOf } from '../output-list/list-page.ts';
import { positionFromRow, walkStatements } from '../output-list/list-statements.ts';
import { type NftOutputs, outputFromRow } from './nft-outputs.ts';
import type { OutputStatus } from './output-status.ts';

/** `foreign`: an address does not have the network's prefix. */
export type NftGallery =
  | ({ ok: true; outputs: OutputStatus[]; next: Position | undefined } & NftOutputs)
  | { ok: false; ledgerIndex: number; why: 'foreign'; prefix: string };

interface Listed {
  position: Position | undefined;
  read(ledgerIndex: number): OutputStatus;
}

/**
 * Undefined where there is no ledger. Throws a LedgerUnreadable where it is another version's.
 *
 * @param query by address or by issuer alone: one walk along an index decides it
 */
export async function readNftGallery(
  db: Database,
  query: OutputQuery,
): Promise<NftGallery | undefined> {
  const { at, parameters, rows } = await readBatch(db, {
    at: selectHeadAt(db),
    parameters: selectParameters(db),
    rows: selectListed(db, query),
  });
  if (at === undefined) return undefined;
  const ledgerIndex = at.head.ledger;
  if (at.milestone === undefined) throw new LedgerDamaged("the ledger's milestone");
  const prefix = parametersAt(parameters, ledgerIndex).bech32Hrp;
  if (query.prefixes.some((each) => each !== prefix))
    return { ok: false, ledgerIndex, why: 'foreign', prefix };
  const page = pageOf(query, [rows.map(({ position }) => position)]);
  if (page === undefined) throw new Error('a gallery has pages');
  const outputs = rows.slice(0, page.items.length).map(({ read }) => read(ledgerIndex));
  const { timestamp } = at.milestone;
  return { ok: true, ledgerIndex, timestamp, prefix, outputs, next: page.next };
}

/** One more than the page holds. */
function selectListed(db: Database, query: OutputQuery): Query<Listed[]> {
  const [walk, ...others] = walkStatements(query);
  if (walk === undefined || others.length > 0) throw new Error('a gallery is one walk');
  const sql = `
    SELECT p.*, ${summedColumns('output', 'o', 'output_')}, o.bytes
    FROM (${walk.sql}) p LEFT JOIN output o ON o.id = p.output
    ORDER BY p.created_time, p.output`;
  return many(db.prepare(sql).bind(...walk.parameters), (row) => ({
    position: positionFromRow(row, 'nft_detail'),
    read: (ledgerIndex) => outputFromRow(row, ledgerIndex),
  }));
}
