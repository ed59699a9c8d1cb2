/** A page of a list, made of the rows of its walks (list-statements.ts). */
import type { Database } from '../../ledger/core/database.ts';
import type { Query } from '../../ledger/core/read-batch.ts';
import { listWalks, rowsWanted } from './list-statements.ts';
import { comparePositions, type OutputQuery, type Position } from './output-query.ts';

export interface ListPage {
  items: Position[];
  /** Beginning of the next page; undefined if there is none. */
  next: Position | undefined;
}

/** Selects a page; undefined beyond the budget of rows. An output of several walks is in it once. */
export function selectPage(db: Database, query: OutputQuery): Query<ListPage | undefined> {
  const walks = listWalks(db, query);
  return {
    statements: walks.flatMap(({ statements }) => statements),
    read: (results) =>
      pageOf(
        query,
        walks.map(({ read }, i) => read([results[i]!])),
      ),
  };
}

export function pageOf(
  query: OutputQuery,
  walks: readonly (readonly (Position | undefined)[])[],
): ListPage | undefined {
  const found = walks.map((positions) => positions.filter((at) => at !== undefined));
  if (found.some((positions, i) => positions.length < walks[i]!.length)) return undefined;
  for (const positions of found) requireOrder(positions);
  const merged = found.length === 1 ? found[0]! : mergeWalks(found);
  const wanted = rowsWanted(query);
  const isUnpaged = query.pageSize === 0;
  if (isUnpaged && query.kinds.length === 1 && merged.length >= wanted) return undefined;
  return { items: merged.slice(0, wanted - 1), next: isUnpaged ? undefined : merged[wanted - 1] };
}

function mergeWalks(walks: readonly (readonly Position[])[]): Position[] {
  const sorted = walks.flat().sort(comparePositions);
  return sorted.filter((at, i) => i === 0 || comparePositions(sorted[i - 1]!, at) !== 0);
}

/** Throws an Error if rows are in another order: a page of them would leave some out. */
function requireOrder(positions: readonly Position[]): void {
  positions.forEach((at, i) => {
    if (i > 0 && comparePositions(positions[i - 1]!, at) >= 0)
      throw new Error(`an index is not in the order of lists at ${at.outputId}`);
  });
}
