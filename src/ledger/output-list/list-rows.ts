/**
 * Facts about an output for lists, as a row of `output_detail` (docs/storage.md#lists). A pack has
 * such rows of what its blocks create, without time and ID.
 */
import { type Address, type AddressKey, addressKey } from '../../stardust/wire/address.ts';
import { FeatureType, findFeature } from '../../stardust/wire/feature.ts';
import { chainIdOf } from '../../stardust/wire/ids.ts';
import { holderOf, type Output, OutputType } from '../../stardust/wire/output.ts';
import {
  addressIn,
  findCondition,
  UnlockConditionType,
} from '../../stardust/wire/unlock-condition.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import type { Row } from '../core/read-batch.ts';
import type { Cell } from '../core/row-sum.ts';

/** Columns in their order. Cells of those that hold bytes are hex digits. */
const COLUMNS: Readonly<Record<string, 'bytes' | 'number'>> = {
  created_time: 'number',
  output: 'bytes',
  kind: 'number',
  address: 'bytes',
  governor: 'bytes',
  issuer: 'bytes',
  sender: 'bytes',
  tag: 'bytes',
  deposit_return: 'bytes',
  expiration_return: 'bytes',
  expiration: 'number',
  timelock: 'number',
  native_tokens: 'number',
  chain: 'bytes',
};

const COLUMN_NAMES = Object.keys(COLUMNS);

/** The cells of a row in the order of the columns; addresses as keys, times in Unix seconds. */
export type ListRow = readonly Cell[];

/** SQL of a value as the column has it, given SQL of the cell. */
export const toColumn = (column: string, cell: string): string =>
  COLUMNS[column] === 'bytes' ? `unhex(${cell})` : cell;

const cellOf = (column: string): string =>
  COLUMNS[column] === 'bytes' ? `nullif(lower(hex(${column})), '')` : column;

/** No cell is text: no index finds bytes that became one. */
export const LIST_CELLS = COLUMN_NAMES.map(
  (column) => `iif(typeof(${column}) = 'text', 'text', ${cellOf(column)}) AS ${column}`,
).join(', ');

export const cellsFromRow = (row: Row): ListRow => COLUMN_NAMES.map((column) => row.cell(column));

/** SQL of the cells of a position. */
export const POSITION_CELLS = ['created_time', 'output']
  .map((column) => `${cellOf(column)} AS ${column}`)
  .join(', ');

/**
 * @param outputId 68 hex digits
 * @param createdTime Unix seconds of the milestone that created the output
 */
export const listRow = (output: Output, outputId: string, createdTime: number): ListRow => [
  createdTime,
  outputId,
  ...packedListRow(output, outputId),
];

export function packedListRow(output: Output, outputId: string): ListRow {
  const cells = cellsOf(output);
  const governor =
    output.type === OutputType.Alias ? addressIn(output, UnlockConditionType.Governor) : undefined;
  const hasChain = output.type === OutputType.Alias || output.type === OutputType.Foundry;
  const chain = hasChain ? chainIdOf(output, Uint8Array.fromHex(outputId)) : undefined;
  return [
    output.type,
    cells.address,
    keyOf(governor),
    cells.issuer,
    cells.sender,
    cells.tag,
    cells.depositReturn,
    cells.expirationReturn,
    cells.expiration,
    cells.timelock,
    cells.nativeTokens,
    chain?.toHex() ?? null,
  ];
}

export const packedKind = (row: string) => `${row} ->> 0`;

/** SQL of the cells of a row of a pack as columns of the table, from the third one on. */
export function unpackedColumns(row: string): string {
  return COLUMN_NAMES.slice(2)
    .map((column, i) => toColumn(column, `${row} ->> ${i}`))
    .join();
}

/** Whether an output has this address and this issuer, where they are given. */
export function hasListed(
  output: Output,
  { address, issuer }: { address?: AddressKey; issuer?: AddressKey },
): boolean {
  const cells = cellsOf(output);
  return (
    (address === undefined || cells.address === address) &&
    (issuer === undefined || cells.issuer === issuer)
  );
}

function cellsOf(output: Output) {
  const { features, nativeTokens } = output;
  const immutable = 'immutableFeatures' in output ? output.immutableFeatures : [];
  const expiration = findCondition(output, UnlockConditionType.Expiration);
  return {
    address: addressKey(holderOf(output)),
    issuer: keyOf(findFeature(immutable, FeatureType.Issuer)?.address),
    sender: keyOf(findFeature(features, FeatureType.Sender)?.address),
    tag: findFeature(features, FeatureType.Tag)?.tag.toHex() ?? null,
    depositReturn: keyOf(
      findCondition(output, UnlockConditionType.StorageDepositReturn)?.returnAddress,
    ),
    expirationReturn: keyOf(expiration?.returnAddress),
    expiration: expiration?.unixTime ?? null,
    timelock: findCondition(output, UnlockConditionType.Timelock)?.unixTime ?? null,
    nativeTokens: nativeTokens.length,
  };
}

const keyOf = (address: Address | undefined): string | null =>
  address === undefined ? null : addressKey(address);

/** SQL that inserts what a SELECT has of the columns. @param into the table, or an import's */
export const insertDetails = (select: string, into = 'output_detail'): string =>
  `INSERT INTO ${into} (${COLUMN_NAMES.join()}) ${select}`;

const CELLS_OF_JSON = `
  SELECT ${COLUMN_NAMES.map((column, i) => toColumn(column, `value ->> ${i}`)).join()} FROM json_each(?1)`;

/**
 * Inserts the rows; rows that are there stay.
 *
 * @param into the table, or the staging table of an import
 */
export function insertListRows(
  db: Database,
  rows: readonly ListRow[],
  into?: string,
): D1PreparedStatement[] {
  const sql = `${insertDetails(CELLS_OF_JSON, into)} WHERE true ON CONFLICT DO NOTHING`;
  return forEachPiece(db, sql, rows);
}
