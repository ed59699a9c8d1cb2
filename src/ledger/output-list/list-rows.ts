/**
 * What lists ask of an output, as a row of a table (docs/storage.md#lists): `nft_detail` of NFTs,
 * `output_detail` of the other kinds.
 *
 * A pack has such rows of what its blocks create without time and ID, which only the ledger gives.
 */

import { type Address, type AddressKey, addressKey } from '../../stardust/wire/address.ts';
import { FeatureType, findFeature } from '../../stardust/wire/feature.ts';
import { chainIdOf } from '../../stardust/wire/ids.ts';
import { type NftOutput, type Output, OutputType } from '../../stardust/wire/output.ts';
import {
  addressIn,
  findCondition,
  UnlockConditionType,
} from '../../stardust/wire/unlock-condition.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import { type Cell, rowSum, SUMMED_COLUMNS } from '../core/row-sum.ts';

export type ListTable = 'nft_detail' | 'output_detail';

/** Columns of `output_detail` that hold bytes; as cells they are hex digits. */
const BYTES: readonly string[] = [
  'output',
  'address',
  'governor',
  'issuer',
  'sender',
  'tag',
  'deposit_return',
  'expiration_return',
  'chain',
];

/** The cells of a row in the order of {@link listColumns}; addresses as keys, times in Unix seconds. */
export type ListRow = readonly Cell[];

/** The columns of a list's table, the sum last. */
export function listColumns(table: ListTable): string[] {
  return [...SUMMED_COLUMNS[table], 'sum'];
}

/** SQL of a value as the column has it, given SQL of the cell. */
export function toColumn(table: ListTable, column: string, cell: string): string {
  return table === 'output_detail' && BYTES.includes(column) ? `unhex(${cell})` : cell;
}

/** SQL of all cells of a row. hex(NULL) is the empty text. */
export function selectCells(table: ListTable): string {
  if (table === 'nft_detail') return '*';
  return listColumns(table)
    .map((column) =>
      BYTES.includes(column) ? `nullif(lower(hex(${column})), '') AS ${column}` : column,
    )
    .join();
}

/**
 * @param outputId 68 hex digits
 * @param createdTime of the milestone that created the output, Unix seconds
 */
export function listRow(output: Output, outputId: string, createdTime: number): ListRow {
  const cells =
    output.type === OutputType.Nft
      ? [createdTime, outputId, ...nftCells(output)]
      : [createdTime, outputId, ...otherCells(output, outputId)];
  return [...cells, rowSum(cells)];
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

/** The row as a pack has it: its sum is that without the time. */
export function packedListRow(output: Output, outputId: string): ListRow {
  return listRow(output, outputId, 0).slice(2);
}

function nftCells(output: NftOutput): Cell[] {
  const { address, issuer, ...rest } = cellsOf(output);
  return [address, issuer, ...commonCells(rest)];
}

function otherCells(output: Exclude<Output, NftOutput>, outputId: string): Cell[] {
  const { address, issuer, ...rest } = cellsOf(output);
  const governor =
    output.type === OutputType.Alias ? addressIn(output, UnlockConditionType.Governor) : undefined;
  const chain = chainIdOf(output, Uint8Array.fromHex(outputId))?.toHex() ?? null;
  return [output.type, address, keyOf(governor), issuer, ...commonCells(rest), chain];
}

type Cells = ReturnType<typeof cellsOf>;

function commonCells(cells: Omit<Cells, 'address' | 'issuer'>): Cell[] {
  const { sender, tag, depositReturn, expirationReturn, expiration, timelock, nativeTokens } =
    cells;
  return [sender, tag, depositReturn, expirationReturn, expiration, timelock, nativeTokens];
}

function cellsOf(output: Output) {
  const { features, nativeTokens } = output;
  const immutable = 'immutableFeatures' in output ? output.immutableFeatures : [];
  const expiration = findCondition(output, UnlockConditionType.Expiration);
  return {
    address: addressKey(controllerOf(output)),
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

function controllerOf(output: Output): Address {
  switch (output.type) {
    case OutputType.Alias:
      return addressIn(output, UnlockConditionType.StateController);
    case OutputType.Foundry:
      return addressIn(output, UnlockConditionType.ImmutableAlias);
    default:
      return addressIn(output, UnlockConditionType.Address);
  }
}

function keyOf(address: Address | undefined): string | null {
  return address === undefined ? null : addressKey(address);
}

/** SQL that is true of a row of a pack, in JSON, that belongs into the table: the others begin with their kind. */
export function isRowOf(table: ListTable, row: string): string {
  return `json_type(${row}, '$[0]') = '${table === 'nft_detail' ? 'text' : 'integer'}'`;
}

/**
 * SQL of the cells of a row of a pack as columns of the table, from the third one on.
 *
 * @param time SQL of the time of creation, which the pack's sum is without
 */
export function unpackedColumns(table: ListTable, row: string, time: string): string {
  const [, , ...columns] = listColumns(table);
  return columns
    .map((column, i) =>
      column === 'sum' ? `(${row} ->> ${i}) + ${time}` : toColumn(table, column, `${row} ->> ${i}`),
    )
    .join();
}

function insertInto(table: ListTable, into: string): string {
  const columns = listColumns(table);
  const values = columns.map((column, i) => toColumn(table, column, `value ->> ${i}`));
  // an output may be there that was created while its table was filled
  return `
    INSERT INTO ${into} (${columns}) SELECT ${values} FROM json_each(?1)
    ${table === 'output_detail' ? 'WHERE true ON CONFLICT (kind, created_time, output) DO NOTHING' : ''}`;
}

/**
 * Statements that insert the rows.
 *
 * @param into the table, or the staging table of an import
 */
export function insertListRows(
  db: Database,
  table: ListTable,
  rows: readonly ListRow[],
  into: string = table,
): D1PreparedStatement[] {
  return forEachPiece(db, insertInto(table, into), rows);
}

const DELETE_NFTS = `
  DELETE FROM nft_detail WHERE (created_time, output) IN (
    SELECT value ->> 0, value ->> 1 FROM json_each(?1))`;

/** @param outputs time of creation and ID of outputs that are no more; they need not be there */
export function deleteListedNfts(
  db: Database,
  outputs: readonly (readonly [createdTime: number, outputId: string])[],
): D1PreparedStatement[] {
  return forEachPiece(db, DELETE_NFTS, outputs);
}
