/**
 * State of an NFT, and what spent its outputs, for histories and certificates
 * (docs/storage.md#histories-of-nfts).
 */
import type { Database } from '../../ledger/core/database.ts';
import { JOIN_HELD, NFT_COLUMNS, nftFromRow } from '../../ledger/core/nft-rows.ts';
import { outputColumns, unspentFromRow } from '../../ledger/core/output-bytes.ts';
import { first, type Query, readQuery } from '../../ledger/core/read-batch.ts';
import {
  readSpentOutput,
  type SpentRow,
  spentIn,
  spentSql,
  TRANSACTION_ID_DIGITS,
} from '../../ledger/packs/milestone-part.ts';
import { selectReferencedBytes } from '../../ledger/packs/referenced-blocks.ts';
import { readOutput } from '../../ledger/read/output-status.ts';
import { requireBlockId } from '../../ledger/read/stored-block.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { parseBlock } from '../../stardust/wire/block.ts';
import { nftIdOf, outputId } from '../../stardust/wire/ids.ts';
import { OutputType } from '../../stardust/wire/output.ts';
import type { Transaction } from '../../stardust/wire/transaction.ts';
import { type Burn, damagedNft, type HeldOutput, heldOf } from './held-outputs.ts';

/**
 * SQL: the milestone after the first kept one. NFTs burned by that one itself are not known any
 * more (write/prune.ts), and a snapshot's own milestone spent nothing here.
 */
export const SINCE = '(SELECT min(idx) + 1 FROM milestone)';

const SELECT_OLDEST = 'SELECT * FROM milestone ORDER BY idx LIMIT 1';

/** The first milestone from which on all changes of NFTs are known; undefined without a ledger. */
export function selectSince(db: Database): Query<number | undefined> {
  return first(db.prepare(SELECT_OLDEST), (row) => {
    row.requireSum('milestone');
    return row.integer('idx') + 1;
  });
}

/** SQL of the ID of the transaction that created or spent an output, as a part has it. */
export const madeBy = (id: string) => `substr(${id}, 1, ${TRANSACTION_ID_DIGITS})`;

/** SQL of the outputs of the NFT ?1 that this milestone spent. Other parts are not parsed. */
export const spentOf = (milestone: string, from = '') => `
  FROM ${spentIn(milestone, from)} AND instr(p.spent, '"' || ?1 || '"') > 0
    AND ${spentSql.chain('s.value')} = ?1`;

/** The milestone that burned the NFT ?1, NULL where none did or it is not kept. */
const BURNED_IN = `(SELECT changed FROM nft WHERE id = ?1 AND output IS NULL AND changed >= ${SINCE})`;

/** SQL of the last output of the burned NFT ?1: its spender created no other of the NFT. */
export const LAST_SPENT = `
  ${spentOf(BURNED_IN)} AND ${madeBy(spentSql.made('s.value'))} NOT IN (
    SELECT ${madeBy(spentSql.id('s.value'))} ${spentOf(BURNED_IN)})`;

/** The NFT ?1, with the milestone of its last change. */
const SELECT_STATE = `
  SELECT ${NFT_COLUMNS}, ${outputColumns('o', { prefix: 'output_' })}, n.changed
  FROM nft n ${JOIN_HELD} LEFT JOIN output o ON o.id = n.output
  WHERE n.id = ?1`;

export interface NftStanding {
  unspent: HeldOutput | undefined;
  changed: number;
}

/** Undefined where no NFT with this ID was ever here, or it was burned long ago. */
export const selectNftState = (db: Database, nftId: string): Query<NftStanding | undefined> =>
  first(db.prepare(SELECT_STATE).bind(nftId), (row) => {
    const { output } = nftFromRow(row)!;
    const unspent = output === null ? undefined : heldOf(unspentFromRow(row, 'output_'), nftId);
    return { unspent, changed: row.integer('changed') };
  });

/**
 * Finds the burn: a transaction that consumed the NFT's last output and created none of it, as its
 * block shows. Throws a LedgerDamaged if there is none.
 *
 * @param index of the milestone that applied it
 * @param last the NFT's last output
 */
export async function readBurn(
  db: Database,
  index: number,
  nftId: string,
  last: SpentRow,
): Promise<Burn> {
  const { transaction: transactionId } = readSpentOutput(last);
  // a transaction creates an output at least, which names its block
  const made = await readOutput(db, `${transactionId}0000`);
  if (made?.bookedIndex !== index) throw damagedNft();
  const { blockId, bookedTimestamp: timestamp } = made;
  const bytes = await readQuery(db, selectReferencedBytes(db, blockId));
  if (bytes === undefined) throw damagedNft();
  requireBlockId(bytes, blockId);
  const { id, value } = transactionOf(bytes);
  if (toHexDigits(id) !== transactionId || createdOf(nftId, id, value) !== undefined)
    throw damagedNft();
  return { transactionId, blockId, timestamp };
}

/** Throws a LedgerDamaged where the block has none. */
export function transactionOf(block: Uint8Array): { id: Uint8Array; value: Transaction } {
  const result = parseBlock(block);
  if (!result.ok || result.parsed.transaction === undefined) throw damagedNft();
  return result.parsed.transaction;
}

/** Returns the hex ID of the output of the NFT that the transaction creates, if any. */
export function createdOf(
  nftId: string,
  transactionId: Uint8Array,
  { essence }: Transaction,
): string | undefined {
  const ids = essence.outputs.map((_, i) => outputId(transactionId, i));
  const own = ids.find((id, i) => {
    const output = essence.outputs[i]!;
    return output.type === OutputType.Nft && toHexDigits(nftIdOf(output, id)) === nftId;
  });
  return own && toHexDigits(own);
}
