/**
 * NFTs with their unspent outputs, and what tells who owns them: all of one moment.
 */

import { fromBase64, Reader } from '../../stardust/encoding/bytes.ts';
import { decode } from '../../stardust/encoding/codec.ts';
import { protocolParametersOption } from '../../stardust/wire/milestone.ts';
import { decodeParameters } from '../../stardust/wire/parameters.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { readOutputBytes } from '../core/output-bytes.ts';
import { requireSchema } from '../core/schema.ts';
import type { OutputStatus } from './output-status.ts';

export interface NftOutputs {
  ledgerIndex: number;
  /** Of the ledger's milestone, Unix seconds. */
  timestamp: number;
  /** The human-readable prefix of the network's addresses. */
  prefix: string;
  /** In the order of the IDs asked for; undefined where no unspent output holds the NFT. */
  outputs: (OutputStatus | undefined)[];
}

/** One statement, as that is quicker than a batch: what is said of the ledger is in every row. */
const SELECT_OUTPUTS = `
  SELECT h.schema, h.ledger, m.timestamp,
    (SELECT bytes FROM parameters WHERE target <= h.ledger ORDER BY target DESC LIMIT 1) AS parameters,
    n.output AS named, o.id, o.bytes, o.block, o.created, o.created_time
  FROM head h JOIN milestone m ON m.idx = h.ledger JOIN json_each(?1) j
    LEFT JOIN nft n ON n.id = j.value LEFT JOIN output o ON o.id = n.output
  ORDER BY j.key`;

/**
 * Undefined where there is no ledger. Throws a LedgerUnreadable where it is another version's.
 *
 * @param nftIds 64 lower-case hex digits each, one at least
 */
export async function readNftOutputs(
  db: Database,
  nftIds: readonly string[],
): Promise<NftOutputs | undefined> {
  const ids = JSON.stringify(nftIds);
  const { results } = await db.prepare(SELECT_OUTPUTS).bind(ids).all<Record<string, unknown>>();
  const first = results[0];
  if (first === undefined) return undefined;
  requireSchema(first.schema);
  const ledgerIndex = Number(first.ledger);
  const option = decode(protocolParametersOption, new Reader(fromBase64(String(first.parameters))));
  return {
    ledgerIndex,
    timestamp: Number(first.timestamp),
    prefix: decodeParameters(option.parameters).bech32Hrp,
    outputs: results.map((row) =>
      row.named === null ? undefined : unspentFromRow(row, ledgerIndex),
    ),
  };
}

function unspentFromRow(row: Record<string, unknown>, ledgerIndex: number): OutputStatus {
  if (row.id === null) throw new LedgerDamaged('the outputs of NFTs');
  return {
    outputId: String(row.id),
    bytes: readOutputBytes(String(row.bytes), String(row.id)),
    blockId: String(row.block),
    bookedIndex: Number(row.created),
    bookedTimestamp: Number(row.created_time),
    spent: undefined,
    ledgerIndex,
  };
}
