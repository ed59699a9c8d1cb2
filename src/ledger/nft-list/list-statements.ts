/**
 * The SQL of a list (docs/storage.md#nft-lists): each statement walks one index of nft_detail in
 * the order of the list, so that a page by what the index is for reads as many rows as it holds.
 *
 * What the index does not decide is looked at row by row, within a budget. Where a walk comes to
 * the end of it, a row without a position stands last, and the list is refused instead of cut.
 */

import type { NftFilters, NftQuery, Position } from '../../stardust/nft-query.ts';
import type { Database } from '../core/database.ts';
import { many, type Query, type Row } from '../core/read-batch.ts';
import { SUMMED_COLUMNS } from '../core/row-sum.ts';

/**
 * The most rows that a list reads beside those of its page: half of them are looked at, half are
 * passed over to see whether any are left. 0.1 to 0.2 s for D1, at 1,000,000 NFTs as at 200,000.
 */
export const ROW_BUDGET = 200_000;

/** The most items of a list without pages. */
export const MAX_ITEMS = 10_000;

/** SQL of as many columns as nft_detail has. */
const NO_ROW = [...SUMMED_COLUMNS.nft_detail, 'sum'].map(() => 'NULL').join();

/** A condition in SQL; its parameters stand for the question marks in it. */
interface Condition {
  sql: string;
  parameters: readonly (string | number)[];
}

type Filter = keyof NftFilters;

/** What each filter that the query has asks of a row. */
type Conditions = Partial<Record<Filter, Condition>>;

/** The rows of an index for which the conditions hold, which decide these filters. */
interface Walk {
  /** Undefined: the table itself, which is in the order of lists. */
  index: string | undefined;
  decides: readonly Filter[];
  where: readonly Condition[];
}

/**
 * Of these the first is walked whose filters the query has: mostly the fewest rows share a value.
 */
const INDEXES: readonly { index: string; decides: readonly Filter[] }[] = [
  { index: 'nft_by_sender_tag', decides: ['sender', 'tag'] },
  { index: 'nft_by_expiration_return', decides: ['expirationReturnAddress'] },
  { index: 'nft_by_deposit_return', decides: ['storageDepositReturnAddress'] },
  { index: 'nft_by_sender', decides: ['sender'] },
  { index: 'nft_by_address', decides: ['address'] },
  { index: 'nft_by_issuer', decides: ['issuer'] },
];

/** The columns of addresses that may unlock an NFT, now or later, and their indexes. */
const UNLOCKING = [
  ['address', 'nft_by_address'],
  ['expiration_return', 'nft_by_expiration_return'],
  ['deposit_return', 'nft_by_deposit_return'],
] as const;

/**
 * The positions of each walk, of which list-page.ts makes the page. Undefined is among them where
 * the walk came to the end of its budget before it had what was wanted.
 */
export function listWalks(db: Database, query: NftQuery): Query<(Position | undefined)[]>[] {
  return walkStatements(query).map(({ sql, parameters }) =>
    many(db.prepare(sql).bind(...parameters), positionFromRow),
  );
}

/** The SQL of each walk: it selects rows of nft_detail, for {@link positionFromRow}. */
export function walkStatements(query: NftQuery): Condition[] {
  const conditions = conditionsOf(query.filters);
  const walks = walksOf(query.filters, conditions);
  const mostLooked = Math.floor(ROW_BUDGET / 2 / walks.length);
  return walks.map((walk) => selectWalk(walk, conditions, query, mostLooked));
}

/** One more than the page holds: it tells whether there is a next page, and where that begins. */
export function rowsWanted({ pageSize }: Pick<NftQuery, 'pageSize'>): number {
  return (pageSize === 0 ? MAX_ITEMS : pageSize) + 1;
}

function walksOf(filters: NftFilters, conditions: Conditions): Walk[] {
  const chosen = INDEXES.find(({ decides }) => decides.every((filter) => filter in conditions));
  if (chosen !== undefined)
    return [{ ...chosen, where: chosen.decides.map((filter) => conditions[filter]!) }];
  const owner = filters.unlockableByAddress;
  if (owner === undefined) return [{ index: undefined, decides: [], where: [] }];
  return UNLOCKING.map(([column, index]) => {
    return { index, decides: ['unlockableByAddress'], where: [compare(column, '=', owner)] };
  });
}

function selectWalk(
  walk: Walk,
  conditions: Conditions,
  query: NftQuery,
  mostLooked: number,
): Condition {
  const range = allOf([...walk.where, ...rangeOf(query)]);
  const by = walk.index === undefined ? 'NOT INDEXED' : `INDEXED BY ${walk.index}`;
  const rows = `FROM nft_detail ${by} WHERE ${range.sql}`;
  const inOrder = `${rows} ORDER BY created_time, output`;
  const undecided = Object.entries(conditions).filter(
    ([filter]) => !walk.decides.includes(filter as Filter),
  );
  const wanted = rowsWanted(query);
  if (undecided.length === 0) {
    const sql = `SELECT * ${inOrder} LIMIT ?`;
    return { sql, parameters: [...range.parameters, wanted] };
  }
  const rest = allOf(undecided.map(([, condition]) => condition));
  // the second half is looked at only where the first found less than was wanted
  const sql = `
    SELECT * FROM (SELECT * ${inOrder} LIMIT ?) WHERE ${rest.sql}
    UNION ALL SELECT ${NO_ROW} FROM (SELECT 1 ${rows} LIMIT 1 OFFSET ?) LIMIT ?`;
  const looked = [...range.parameters, mostLooked, ...rest.parameters];
  return { sql, parameters: [...looked, ...range.parameters, mostLooked, wanted] };
}

/** From where the page begins, and between the times of creation that are asked for. */
function rangeOf({ from, filters: { createdBefore, createdAfter } }: NftQuery): Condition[] {
  const after =
    createdAfter === undefined ? undefined : { createdTime: createdAfter + 1, outputId: '' };
  const { createdTime, outputId } = after && after.createdTime > from.createdTime ? after : from;
  return [
    { sql: '(created_time, output) >= (?, ?)', parameters: [createdTime, outputId] },
    ...(createdBefore === undefined ? [] : [compare('created_time', '<', createdBefore)]),
  ];
}

/** Without the times of creation, which bound every walk. NULL is never equal, before or after. */
function conditionsOf(filters: NftFilters): Conditions {
  const { unlockableByAddress: owner, hasNativeTokens: tokens } = filters;
  const conditions: { [F in Filter]?: Condition | undefined } = {
    address: ifGiven('address', '=', filters.address),
    unlockableByAddress:
      owner === undefined
        ? undefined
        : { sql: `? IN (${UNLOCKING.map(([column]) => column)})`, parameters: [owner] },
    issuer: ifGiven('issuer', '=', filters.issuer),
    sender: ifGiven('sender', '=', filters.sender),
    storageDepositReturnAddress: ifGiven(
      'deposit_return',
      '=',
      filters.storageDepositReturnAddress,
    ),
    expirationReturnAddress: ifGiven('expiration_return', '=', filters.expirationReturnAddress),
    tag: ifGiven('tag', '=', filters.tag),
    hasNativeTokens:
      tokens === undefined ? undefined : compare('native_tokens', tokens ? '>' : '=', 0),
    minNativeTokenCount: ifGiven('native_tokens', '>=', filters.minNativeTokenCount),
    maxNativeTokenCount: ifGiven('native_tokens', '<=', filters.maxNativeTokenCount),
    hasStorageDepositReturn: ifPresent('deposit_return', filters.hasStorageDepositReturn),
    hasTimelock: ifPresent('timelock', filters.hasTimelock),
    timelockedBefore: ifGiven('timelock', '<', filters.timelockedBefore),
    timelockedAfter: ifGiven('timelock', '>', filters.timelockedAfter),
    hasExpiration: ifPresent('expiration_return', filters.hasExpiration),
    expiresBefore: ifGiven('expiration', '<', filters.expiresBefore),
    expiresAfter: ifGiven('expiration', '>', filters.expiresAfter),
  };
  const given = Object.entries(conditions).filter(([, condition]) => condition !== undefined);
  return Object.fromEntries(given);
}

function compare(column: string, operator: string, value: string | number): Condition {
  return { sql: `${column} ${operator} ?`, parameters: [value] };
}

function ifGiven(column: string, operator: string, value: string | number | undefined) {
  return value === undefined ? undefined : compare(column, operator, value);
}

function ifPresent(column: string, value: boolean | undefined): Condition | undefined {
  if (value === undefined) return undefined;
  return { sql: `${column} IS ${value ? 'NOT ' : ''}NULL`, parameters: [] };
}

function allOf(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    parameters: conditions.flatMap(({ parameters }) => parameters),
  };
}

/** Undefined of the row that stands for the end of the budget. */
export function positionFromRow(row: Row): Position | undefined {
  const outputId = row.textOrNull('output');
  if (outputId === null) return undefined;
  row.requireSum('nft_detail');
  return { createdTime: row.integer('created_time'), outputId };
}
