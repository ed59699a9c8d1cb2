/** NFTs with their unspent outputs, and the facts by which they are owned: all of one moment. */
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { decode } from '../../stardust/encoding/codec.ts';
import { protocolParametersOption } from '../../stardust/wire/milestone.ts';
import { decodeParameters } from '../../stardust/wire/parameters.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { headFromRow, ownMilestoneFromRow } from '../core/head.ts';
import { JOIN_HELD, NFTS_COLUMNS, nftFromRow, withNfts } from '../core/nft-rows.ts';
import { outputColumns } from '../core/output-bytes.ts';
import { many, type Row, readAlone } from '../core/read-batch.ts';
import { summedColumns } from '../core/row-sum.ts';
import { type OutputStatus, unspentStatus } from './output-status.ts';

export interface NftOutputs {
  ledgerIndex: number;
  /** Unix seconds of the ledger's milestone. */
  timestamp: number;
  /** The human-readable prefix of the network's addresses. */
  prefix: string;
  /** Outputs in the order of the IDs; undefined if no unspent output holds the NFT or has the ID. */
  outputs: (OutputStatus | undefined)[];
}

/** One statement, which is quicker than a batch: every row repeats the facts about the ledger. */
const SELECT_OUTPUTS = `
  WITH ${withNfts('SELECT * FROM nft WHERE id IN (SELECT value FROM json_each(?1))')}
  SELECT h.*, ${summedColumns('milestone', 'm', 'milestone_')},
    ${summedColumns('parameters', 'p', 'parameters_')}, ${NFTS_COLUMNS},
    ${outputColumns('o', { prefix: 'output_' })}
  FROM head h LEFT JOIN milestone m ON m.idx = h.ledger
    LEFT JOIN parameters p
      ON p.target = (SELECT max(target) FROM parameters WHERE target <= h.ledger)
    JOIN json_each(?1) j LEFT JOIN n ON n.id = j.value ${JOIN_HELD}
    LEFT JOIN output o ON o.id = coalesce(n.output, j.value)
  ORDER BY j.key`;

/**
 * Returns undefined without a ledger. Throws a LedgerUnreadable if it is of another version.
 *
 * @param ids of NFTs, 64 lower-case hex digits, or of their outputs, 68; one at least
 */
export async function readNftOutputs(
  db: Database,
  ids: readonly string[],
): Promise<NftOutputs | undefined> {
  const statement = db.prepare(SELECT_OUTPUTS).bind(JSON.stringify(ids));
  const rows = await readAlone(many(statement, (row) => row));
  const [first] = rows;
  if (first === undefined) return undefined;
  const { ledger: ledgerIndex } = headFromRow(first);
  first.requireSum('parameters', 'parameters_');
  const option = decode(protocolParametersOption, fromBase64(first.text('parameters_bytes')));
  return {
    ledgerIndex,
    timestamp: ownMilestoneFromRow(first).timestamp,
    prefix: decodeParameters(option.parameters).bech32Hrp,
    outputs: rows.map((row) => unspentFromRow(row, ledgerIndex)),
  };
}

function unspentFromRow(row: Row, ledgerIndex: number): OutputStatus | undefined {
  // an output that is asked for by its own ID has no row here
  const named = nftFromRow(row);
  const outputId = named === undefined ? row.textOrNull('output_id') : named.output;
  return outputId === null ? undefined : namedOutput(row, ledgerIndex);
}

/**
 * Reads the output that an NFT or an index names, which must be there.
 *
 * @param row of an output's {@link outputColumns}, with the prefix `output_`
 */
export function namedOutput(row: Row, ledgerIndex: number): OutputStatus {
  if (row.textOrNull('output_id') === null) throw new LedgerDamaged('the outputs of NFTs');
  return unspentStatus(row, ledgerIndex, 'output_');
}
