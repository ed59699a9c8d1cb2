/**
 * What lists ask of an NFT's output, as a row of the table nft_detail
 * (docs/storage.md#nft-lists).
 */

import { type Address, addressKey } from '../../stardust/wire/address.ts';
import { FeatureType, findFeature } from '../../stardust/wire/feature.ts';
import type { NftOutput } from '../../stardust/wire/output.ts';
import {
  addressIn,
  findCondition,
  UnlockConditionType,
} from '../../stardust/wire/unlock-condition.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import { rowSum, SUMMED_COLUMNS } from '../core/row-sum.ts';

/** In the order of the table's columns; addresses as keys, times in Unix seconds. */
export type NftDetail = readonly [
  createdTime: number,
  outputId: string,
  address: string,
  issuer: string | null,
  sender: string | null,
  tag: string | null,
  depositReturn: string | null,
  expirationReturn: string | null,
  expiration: number | null,
  timelock: number | null,
  nativeTokens: number,
  sum: number,
];

/**
 * @param outputId 68 hex digits
 * @param createdTime of the milestone that created the output, Unix seconds
 */
export function nftDetail(output: NftOutput, outputId: string, createdTime: number): NftDetail {
  const { features, immutableFeatures, nativeTokens } = output;
  const expiration = findCondition(output, UnlockConditionType.Expiration);
  const cells = [
    createdTime,
    outputId,
    addressKey(addressIn(output, UnlockConditionType.Address)),
    keyOf(findFeature(immutableFeatures, FeatureType.Issuer)?.address),
    keyOf(findFeature(features, FeatureType.Sender)?.address),
    findFeature(features, FeatureType.Tag)?.tag.toHex() ?? null,
    keyOf(findCondition(output, UnlockConditionType.StorageDepositReturn)?.returnAddress),
    keyOf(expiration?.returnAddress),
    expiration?.unixTime ?? null,
    findCondition(output, UnlockConditionType.Timelock)?.unixTime ?? null,
    nativeTokens.length,
  ] as const;
  return [...cells, rowSum(cells)];
}

function keyOf(address: Address | undefined): string | null {
  return address === undefined ? null : addressKey(address);
}

const COLUMNS = [...SUMMED_COLUMNS.nft_detail, 'sum'];

const insertInto = (table: string) => `
  INSERT INTO ${table} (${COLUMNS})
  SELECT ${COLUMNS.map((_, i) => `value ->> ${i}`)} FROM json_each(?1)`;

const DELETE_DETAILS = `
  DELETE FROM nft_detail WHERE (created_time, output) IN (
    SELECT value ->> 0, value ->> 1 FROM json_each(?1))`;

/**
 * Statements that insert the rows.
 *
 * @param table nft_detail, or the staging table of an import
 */
export function insertDetails(
  db: Database,
  details: readonly NftDetail[],
  table = 'nft_detail',
): D1PreparedStatement[] {
  return forEachPiece(db, insertInto(table), details);
}

/** @param outputs time of creation and ID of outputs that are no more; they need not be there */
export function deleteDetails(
  db: Database,
  outputs: readonly (readonly [createdTime: number, outputId: string])[],
): D1PreparedStatement[] {
  return forEachPiece(db, DELETE_DETAILS, outputs);
}
