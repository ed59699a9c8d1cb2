/**
 * Outputs that held NFTs, for histories (docs/storage.md#histories-of-nfts): those of the ledger,
 * those that a milestone spent, and those that pruning keeps in nft_past if HISTORY is `all`.
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import { type Database, forEachPiece } from '../../ledger/core/database.ts';
import { readOutputBytes, type UnspentOutput } from '../../ledger/core/output-bytes.ts';
import { many, type Row } from '../../ledger/core/read-batch.ts';
import { type Cell, rowSum, SUMMED_COLUMNS } from '../../ledger/core/row-sum.ts';
import type { FingerprintedTable } from '../../ledger/ledger-part.ts';
import { PARTS, readSpentOutput, type SpentRow } from '../../ledger/packs/milestone-part.ts';
import { PAST_TABLE } from '../../ledger/write/prune.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { decode, encode } from '../../stardust/encoding/codec.ts';
import { chainIdFromOutputId, decodeOutput, nftIdOf } from '../../stardust/wire/ids.ts';
import { nftConditions, OutputType } from '../../stardust/wire/output.ts';
import type { UnlockCondition } from '../../stardust/wire/unlock-condition.ts';

/** An output that held the NFT. IDs are hex. */
export interface HeldOutput {
  id: string;
  unlockConditions: UnlockCondition[];
  isMint: boolean;
  block: string;
  created: number;
  /** Unix seconds. */
  createdTime: number;
}

export const damagedNft = () => new LedgerDamaged('outputs that NFTs had');

/** Throws a LedgerDamaged where the output is not one of the NFT. */
export function heldOf(
  { id, bytes, block, created, createdTime }: UnspentOutput,
  nftId: string,
): HeldOutput {
  const output = decodeOutput(bytes);
  if (
    output.type !== OutputType.Nft ||
    toHexDigits(nftIdOf(output, Uint8Array.fromHex(id))) !== nftId
  )
    throw damagedNft();
  const isMint = output.nftId.every((byte) => byte === 0);
  return { id, unlockConditions: output.unlockConditions, isMint, block, created, createdTime };
}

export function heldFromSpent(row: SpentRow, nftId: string): HeldOutput {
  const { bytes, ...facts } = readSpentOutput(row);
  return heldOf({ ...facts, bytes: readOutputBytes(bytes, facts.id) }, nftId);
}

export interface Burn {
  /** 64 hex digits, as is `blockId`. */
  transactionId: string;
  blockId: string;
  timestamp: number;
}

export interface PastOutput extends HeldOutput {
  /** Index of the milestone that spent it. */
  spentIn: number;
  /** ID of the transaction that spent it, 64 hex digits. */
  spender: string;
  burn: Burn | undefined;
}

/** Digits of an NFT's ID, with which a row's key begins; a part's key follows. */
const NFT_DIGITS = 64;
const PART_DIGITS = 12;
const PLACE_DIGITS = 4;

/** A row's key, hex. `part`: key of the milestone's part, `place`: in its list of spent outputs. */
function pastKey(nftId: string, part: number, place: number): string {
  const digits = (value: number, length: number) => value.toString(16).padStart(length, '0');
  return nftId + digits(part, PART_DIGITS) + digits(place, PLACE_DIGITS);
}

/** SQL of the least key of the NFT ?1 among outputs that this milestone and later ones spent. */
export const leastPastKey = (milestone: string): string =>
  `unhex(?1 || printf('%0${PART_DIGITS}x', (${milestone}) * ${PARTS}))`;

const BYTE_COLUMNS: readonly string[] = [
  'id',
  'output',
  'conditions',
  'block',
  'spender',
  'burned_block',
];

/** SQL of the columns of a row: bytes as hex, nothing for NULL. */
export const PAST_COLUMNS = [...SUMMED_COLUMNS.nft_past, 'sum']
  .map((column) => (BYTE_COLUMNS.includes(column) ? `lower(hex(${column})) AS ${column}` : column))
  .join(', ');

/** Throws a LedgerDamaged where the row is not what was written. */
export function pastFromRow(row: Row): PastOutput {
  row.requireSum('nft_past');
  const [key, id, spender] = [row.text('id'), row.text('output'), row.text('spender')];
  const nftId = key.slice(0, NFT_DIGITS);
  const part = Number.parseInt(key.slice(NFT_DIGITS, -PLACE_DIGITS), 16);
  const timestamp = row.integerOrNull('burned_time');
  return {
    id,
    unlockConditions: decode(nftConditions, Uint8Array.fromHex(row.text('conditions'))),
    isMint: toHexDigits(chainIdFromOutputId(Uint8Array.fromHex(id))) === nftId,
    block: row.text('block'),
    created: row.integer('created'),
    createdTime: row.integer('created_time'),
    spentIn: Math.floor(part / PARTS),
    spender,
    burn:
      timestamp === null
        ? undefined
        : { transactionId: spender, blockId: row.text('burned_block'), timestamp },
  };
}

const SELECT_NEXT = `
  SELECT ${PAST_COLUMNS} FROM nft_past WHERE nft_past.id > unhex(?1)
  ORDER BY nft_past.id LIMIT ?2`;

/** The table, as the scrub reads it. */
export const pastTable: FingerprintedTable = {
  name: PAST_TABLE,
  isKept: ({ history }) => history !== 0,
  selectNext: (db, after, most) =>
    many(db.prepare(SELECT_NEXT).bind(after, most), (row) => {
      row.requireSum('nft_past');
      return { id: row.text('id'), sum: row.integer('sum') };
    }),
};

/** A row of nft_past in the order of its columns, bytes as hex. */
export interface PastRow {
  key: string;
  cells: Cell[];
  sum: number;
}

/** @param spent in the part with that key, at that place */
export function writePastRow(
  nftId: string,
  part: number,
  place: number,
  spent: SpentRow,
  burn: Omit<Burn, 'transactionId'> | undefined,
): PastRow {
  const { id, unlockConditions, block, created, createdTime } = heldFromSpent(spent, nftId);
  const key = pastKey(nftId, part, place);
  const conditions = encode(nftConditions, unlockConditions).toHex();
  const { transaction } = readSpentOutput(spent);
  const cells = [key, id, conditions, block, created, createdTime, transaction];
  const all = [...cells, burn?.blockId ?? null, burn?.timestamp ?? null];
  return { key, cells: all, sum: rowSum(all) };
}

const INSERT_PAST = `
  INSERT INTO nft_past (${SUMMED_COLUMNS.nft_past.join(', ')}, sum)
  SELECT ${SUMMED_COLUMNS.nft_past
    .map((column, i) =>
      BYTE_COLUMNS.includes(column) ? `unhex(value ->> ${i})` : `value ->> ${i}`,
    )
    .join(', ')}, value ->> ${SUMMED_COLUMNS.nft_past.length} FROM json_each(?1)`;

export function insertPast(db: Database, rows: readonly PastRow[]): D1PreparedStatement[] {
  const summed = rows.map(({ cells, sum }) => [...cells, sum]);
  return forEachPiece(db, INSERT_PAST, summed);
}
