/**
 * The SQL of a list (docs/storage.md#lists): each statement walks one index of a kind's table in
 * the order of the list, so that a page by what the index is for reads as many rows as it holds.
 * Other conditions are tested row by row, within a budget; a walk that uses it up says where it
 * would go on, and so does the page, which is made of the rows of its walks.
 */
import type { Database } from '../../ledger/core/database.ts';
import { combine, many, type Query, type Row } from '../../ledger/core/read-batch.ts';
import { KINDS, type Kind } from '../../ledger/output-list/indexed-kinds.ts';
import { POSITION_CELLS, toColumn } from '../../ledger/output-list/list-rows.ts';
import {
  comparePositions,
  type OutputFilters,
  type OutputQuery,
  type Position,
} from './output-query.ts';

/**
 * Most rows that a list reads beside those of its page: half are tested, half passed over to see
 * where the next page begins. 0.1 to 0.2 s for D1, at 1,000,000 NFTs as at 200,000.
 */
export const ROW_BUDGET = 200_000;

/** The most items of a list without pages. */
export const MAX_ITEMS = 10_000;

/** A condition in SQL; its parameters stand for the question marks in it. */
interface Condition {
  sql: string;
  parameters: readonly (string | number)[];
}

const ORDER = 'ORDER BY created_time, output';

type Filter = keyof OutputFilters;

type Conditions = Partial<Record<Filter, Condition>>;

/** The rows of an index for which the conditions hold, which decide these filters. */
interface Walk {
  kind: Kind;
  /** A name without its beginning. Undefined: the table itself, which is in the order of lists. */
  index: string | undefined;
  decides: readonly Filter[];
  where: readonly Condition[];
}

/** The first index is walked whose filters the query has: mostly the fewest rows share a value. */
const INDEXES: readonly { index: string; decides: readonly Filter[] }[] = [
  { index: 'sender_tag', decides: ['sender', 'tag'] },
  { index: 'expiration_return', decides: ['expirationReturnAddress'] },
  { index: 'deposit_return', decides: ['storageDepositReturnAddress'] },
  { index: 'sender', decides: ['sender'] },
  { index: 'address', decides: ['address'] },
  { index: 'address', decides: ['stateController'] },
  { index: 'address', decides: ['aliasAddress'] },
  { index: 'governor', decides: ['governor'] },
  { index: 'issuer', decides: ['issuer'] },
];

/** The columns of all addresses in unlock conditions. Each has an index. */
const UNLOCKING: Record<Kind, readonly string[]> = {
  basic: ['address', 'expiration_return', 'deposit_return'],
  alias: ['address', 'governor'],
  foundry: ['address'],
  nft: ['address', 'expiration_return', 'deposit_return'],
};

/**
 * SQL of a walk that decides all of the query. It selects positions as an index has them, IDs as
 * bytes, and reads no row of the table: compare them with the outputs.
 */
export function selectIndexed(query: OutputQuery): Condition {
  const [walk, ...others] = query.kinds.flatMap((kind) => walksOf(kind, query.filters));
  if (walk === undefined || others.length > 0 || undecidedBy(walk, query).length > 0)
    throw new Error('no index decides the query');
  const { sql, parameters } = selectRows(walk, query);
  return {
    sql: `SELECT created_time, output ${sql} ${ORDER} LIMIT ?`,
    parameters: [...parameters, rowsWanted(query)],
  };
}

/**
 * Number of rows: one more than the page holds, to find the next page. Without pages the reference
 * gives all of one kind, and one output of several kinds.
 */
function rowsWanted({ pageSize, kinds }: Pick<OutputQuery, 'pageSize' | 'kinds'>): number {
  const unpaged = kinds.length > 1 ? 1 : MAX_ITEMS;
  return (pageSize === 0 ? unpaged : pageSize) + 1;
}

function walksOf(kind: Kind, filters: OutputFilters): Walk[] {
  const conditions = conditionsOf(kind, filters);
  const chosen = INDEXES.find(({ decides }) => decides.every((filter) => filter in conditions));
  if (chosen !== undefined)
    return [{ kind, ...chosen, where: chosen.decides.map((filter) => conditions[filter]!) }];
  const owner = filters.unlockableByAddress;
  if (owner === undefined) return [{ kind, index: undefined, decides: [], where: [] }];
  return UNLOCKING[kind].map((index) => {
    const where = [compare(index, '=', owner)];
    return { kind, index, decides: ['unlockableByAddress'], where };
  });
}

function selectWalk(walk: Walk, query: OutputQuery, mostLooked: number): Condition {
  const rows = selectRows(walk, query);
  const inOrder = `SELECT * ${rows.sql} ${ORDER} LIMIT ?`;
  const undecided = undecidedBy(walk, query);
  const wanted = rowsWanted(query);
  if (undecided.length === 0) {
    const sql = `SELECT ${POSITION_CELLS}, 0 AS beyond FROM (${inOrder})`;
    return { sql, parameters: [...rows.parameters, wanted] };
  }
  const rest = allOf(undecided);
  // the second half is looked at only where the first found less than was wanted
  const sql = `
    SELECT ${POSITION_CELLS}, 0 AS beyond FROM (${inOrder}) WHERE ${rest.sql}
    UNION ALL SELECT ${POSITION_CELLS}, 1
      FROM (SELECT created_time, output ${rows.sql} ${ORDER} LIMIT 1 OFFSET ?) LIMIT ?`;
  const looked = [...rows.parameters, mostLooked, ...rest.parameters];
  return { sql, parameters: [...looked, ...rows.parameters, mostLooked, wanted] };
}

function selectRows({ kind, index, where }: Walk, query: OutputQuery): Condition {
  const ofKind = compare('kind', '=', KINDS[kind]);
  const { sql, parameters } = allOf([ofKind, ...where, ...rangeOf(query)]);
  const by = index === undefined ? 'NOT INDEXED' : `INDEXED BY detail_by_${index}`;
  return { sql: `FROM output_detail ${by} WHERE ${sql}`, parameters };
}

function undecidedBy({ kind, decides }: Walk, { filters }: OutputQuery): Condition[] {
  return Object.entries(conditionsOf(kind, filters))
    .filter(([filter]) => !decides.includes(filter as Filter))
    .map(([, condition]) => condition);
}

/** Conditions of the page's beginning and of the times of creation. */
function rangeOf({ from, filters: { createdBefore, createdAfter } }: OutputQuery): Condition[] {
  const after =
    createdAfter === undefined ? undefined : { createdTime: createdAfter + 1, outputId: '' };
  const { createdTime, outputId } = after && after.createdTime > from.createdTime ? after : from;
  return [
    { sql: '(created_time, output) >= (?, unhex(?))', parameters: [createdTime, outputId] },
    ...(createdBefore === undefined ? [] : [compare('created_time', '<', createdBefore)]),
  ];
}

/** Conditions besides times of creation, which bound every walk. NULL is never equal or in order. */
function conditionsOf(kind: Kind, filters: OutputFilters): Conditions {
  const { unlockableByAddress: owner, hasNativeTokens: tokens } = filters;
  const ifGiven = (column: string, operator: string, value: string | number | undefined) =>
    value === undefined ? undefined : compare(column, operator, value);
  const conditions: { [F in Filter]?: Condition | undefined } = {
    address: ifGiven('address', '=', filters.address),
    stateController: ifGiven('address', '=', filters.stateController),
    governor: ifGiven('governor', '=', filters.governor),
    aliasAddress: ifGiven('address', '=', filters.aliasAddress),
    unlockableByAddress: owner === undefined ? undefined : anyOf(UNLOCKING[kind], owner),
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
      tokens === undefined ? undefined : ifGiven('native_tokens', tokens ? '>' : '=', 0),
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
  return { sql: `${column} ${operator} ${toColumn(column, '?')}`, parameters: [value] };
}

function anyOf(columns: readonly string[], value: string): Condition {
  return { sql: `unhex(?) IN (${columns})`, parameters: [value] };
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

/** `isBeyond`: of the first row that the walk did not test, with which it ends. */
interface Found extends Position {
  isBeyond: boolean;
}

function foundFromRow(row: Row): Found {
  return {
    createdTime: row.integer('created_time'),
    outputId: row.text('output'),
    isBeyond: row.integer('beyond') === 1,
  };
}

export interface ListPage {
  items: Position[];
  /** Beginning of the next page; undefined if there is none. */
  next: Position | undefined;
}

/**
 * Selects a page; undefined where a list without pages is too long. An output of several walks is in
 * it once. It has fewer items than it may, and a next page, where the budget of rows ends it.
 */
export function selectPage(db: Database, query: OutputQuery): Query<ListPage | undefined> {
  const walks = query.kinds.flatMap((kind) => walksOf(kind, query.filters));
  const mostLooked = Math.floor(ROW_BUDGET / 2 / walks.length);
  const queries = walks.map((walk) => {
    const { sql, parameters } = selectWalk(walk, query, mostLooked);
    return many(db.prepare(sql).bind(...parameters), foundFromRow);
  });
  return combine(queries, (found) => pageOf(query, Object.values(found)));
}

export function pageOf(
  query: OutputQuery,
  walks: readonly (readonly (Position & { isBeyond?: boolean })[])[],
): ListPage | undefined {
  for (const found of walks) requireOrder(found);
  const sorted = walks.flat().sort(comparePositions);
  // up to there every walk has tested all
  const end = sorted.find(({ isBeyond }) => isBeyond);
  const tested = end ? sorted.filter((at) => comparePositions(at, end) < 0) : sorted;
  const merged = tested.filter((at, i) => i === 0 || comparePositions(tested[i - 1]!, at) !== 0);
  const wanted = rowsWanted(query);
  const isUnpaged = query.pageSize === 0;
  const isLong = query.kinds.length === 1 && merged.length >= wanted;
  if (isUnpaged && (end || isLong)) return undefined;
  const next = isUnpaged ? undefined : (merged[wanted - 1] ?? end);
  return { items: merged.slice(0, wanted - 1), next };
}

/** Throws an Error if rows are in another order: a page of them would leave some out. */
function requireOrder(positions: readonly Position[]): void {
  positions.forEach((at, i) => {
    if (i > 0 && comparePositions(positions[i - 1]!, at) >= 0)
      throw new Error(`an index is not in the order of lists at ${at.outputId}`);
  });
}
