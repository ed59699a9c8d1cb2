/**
 * Lists as the product makes them, of a table of its own: the query parsed, the SQL run, the page
 * put together.
 */
import { HttpError } from '../../../src/http/errors.ts';
import { formatCursor, parseOutputQuery } from '../../../src/http/routes/indexer/output-query.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { selectPage } from '../../../src/ledger/output-list/list-page.ts';
import { insertListRows, listRow } from '../../../src/ledger/output-list/list-rows.ts';
import type { PlainOutput } from './plain-list.ts';

/** What it cost, as D1 counts; SQLite outside of D1 does not count. */
export interface ProductAnswer {
  status: number;
  response?: unknown;
  rowsRead: number;
}

/** Makes the table hold these and no others. */
export async function fillDetails(db: Database, nfts: readonly PlainOutput[]): Promise<void> {
  const details = nfts.map(({ output, outputId, createdTime }) =>
    listRow(output, outputId, createdTime),
  );
  await db.batch([db.prepare('DELETE FROM output_detail'), ...insertListRows(db, details)]);
}

export async function productList(
  db: Database,
  ledgerIndex: number,
  prefix: string,
  search: string,
): Promise<ProductAnswer> {
  try {
    const query = parseOutputQuery(search, 'nft');
    if (query.prefixes.some((each) => each !== prefix)) return { status: 400, rowsRead: 0 };
    const { statements, read } = selectPage(db, query);
    const walks = await db.batch<Record<string, unknown>>([...statements]);
    const rowsRead = walks.reduce((sum, { meta }) => sum + meta.rows_read, 0);
    const page = read(walks);
    if (page === undefined) return { status: 500, rowsRead };
    const { pageSize } = query;
    const cursor = page.next && formatCursor(page.next, pageSize);
    const items = page.items.map(({ outputId }) => `0x${outputId}`);
    return {
      status: 200,
      response: { ledgerIndex, pageSize, ...(cursor && { cursor }), items },
      rowsRead,
    };
  } catch (error) {
    if (error instanceof HttpError) return { status: error.status, rowsRead: 0 };
    throw error;
  }
}
