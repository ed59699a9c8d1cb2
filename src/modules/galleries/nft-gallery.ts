/** A page of the NFTs of an address or an issuer, with their whole outputs, of one moment. */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import type { Database } from '../../ledger/core/database.ts';
import { selectLedger } from '../../ledger/core/head.ts';
import { parametersAt, selectParameters } from '../../ledger/core/ledger-parameters.ts';
import { outputColumns } from '../../ledger/core/output-bytes.ts';
import { many, type Query, readBatch } from '../../ledger/core/read-batch.ts';
import { hasListed } from '../../ledger/output-list/list-rows.ts';
import { type NftOutputs, namedOutput } from '../../ledger/read/nft-outputs.ts';
import type { OutputStatus } from '../../ledger/read/output-status.ts';
import { decodeOutput } from '../../stardust/wire/ids.ts';
import { type NftOutput, OutputType } from '../../stardust/wire/output.ts';
import { pageOf, selectIndexed } from '../lists/list-statements.ts';
import type { OutputQuery, Position } from '../lists/output-query.ts';

interface NftGallery extends Omit<NftOutputs, 'outputs'> {
  nfts: NftStatus[];
  next: Position | undefined;
}

export interface NftStatus {
  status: OutputStatus;
  output: NftOutput;
}

interface Listed {
  position: Position;
  read(ledgerIndex: number): NftStatus;
}

/**
 * Returns undefined without a ledger. Throws a LedgerUnreadable if it is of another version.
 *
 * @param query by address or by issuer alone: one walk along an index decides it
 */
export async function readNftGallery(
  db: Database,
  query: OutputQuery,
): Promise<NftGallery | undefined> {
  const { at, parameters, rows } = await readBatch(db, {
    at: selectLedger(db),
    parameters: selectParameters(db),
    rows: selectListed(db, query),
  });
  if (at === undefined) return undefined;
  const ledgerIndex = at.head.ledger;
  const prefix = parametersAt(parameters, ledgerIndex).bech32Hrp;
  const page = pageOf(query, [rows.map(({ position }) => position)]);
  if (page === undefined) throw new Error('a gallery has pages');
  // where the next page begins is read too, and so compared
  const nfts = rows.map(({ read }) => read(ledgerIndex)).slice(0, page.items.length);
  const { timestamp } = at.milestone;
  return { ledgerIndex, timestamp, prefix, nfts, next: page.next };
}

/** Selects one more than the page holds. */
function selectListed(db: Database, query: OutputQuery): Query<Listed[]> {
  const { sql, parameters } = selectIndexed(query);
  const statement = db.prepare(`
    SELECT p.created_time, lower(hex(p.output)) AS output,
      ${outputColumns('o', { prefix: 'output_' })}
    FROM (${sql}) p LEFT JOIN output o ON o.id = lower(hex(p.output))
    ORDER BY p.created_time, p.output`);
  return many(statement.bind(...parameters), (row) => {
    const position = { createdTime: row.integer('created_time'), outputId: row.text('output') };
    const read = (ledgerIndex: number): NftStatus => {
      const status = namedOutput(row, ledgerIndex);
      const output = decodeOutput(status.bytes);
      const isListed =
        output.type === OutputType.Nft &&
        status.bookedTimestamp === position.createdTime &&
        hasListed(output, query.filters);
      if (!isListed) throw new LedgerDamaged('rows of the table output_detail');
      return { status, output };
    };
    return { position, read };
  });
}
