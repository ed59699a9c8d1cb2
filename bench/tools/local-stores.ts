/**
 * D1 and KV of miniflare, from Node, with a count of what is billed. A Worker of a few lines works
 * on them: miniflare's own way from Node makes a request of each call of `prepare` and `bind`, and
 * takes ten times as long.
 */
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { openLocalDatabase, persistPath } from '../../cli/lib/wrangler/local-database.ts';
import { readWranglerConfig } from '../../cli/lib/wrangler/wrangler-config.ts';
import { withNewFolder } from './ledger.ts';

const SCRIPT = `export default {
  async fetch(request, { LEDGER, NFT_INDEX }) {
    const { batch, get, put } = await request.json();
    if (get) return Response.json(await NFT_INDEX.get(...get));
    if (put) return Response.json(await NFT_INDEX.put(...put) ?? null);
    const prepared = batch.map(({ sql, values }) => LEDGER.prepare(sql).bind(...values));
    try {
      return Response.json(await LEDGER.batch(prepared));
    } catch (error) {
      return new Response(error.message, { status: 500 });
    }
  },
};`;

/** By D1's own word: its `meta` is what it bills by. */
export interface StoreCounts {
  rowsWritten: number;
  rowsRead: number;
  kvReads: number;
  kvWrites: number;
}

export interface LocalStores {
  ledger: D1Database;
  nftIndex: KVNamespace;
  /** Since the stores were opened. */
  counts: StoreCounts;
}

interface Statement {
  sql: string;
  values: readonly unknown[];
}

/** Works with stores that are empty, but for the tables of the migrations, and removes them. */
export function withLocalStores(work: (stores: LocalStores) => Promise<void>): Promise<void> {
  return withNewFolder(async (persistTo) => {
    const config = readWranglerConfig();
    (await openLocalDatabase(persistTo, config)).close();
    const options = convertV4MiniflareOptions({
      modules: true,
      script: SCRIPT,
      d1Databases: { LEDGER: config.localDatabaseId },
      kvNamespaces: { NFT_INDEX: config.localNamespaceId },
      cf: false,
    });
    const miniflare = new Miniflare({
      ...options,
      resourcePersistencePath: persistPath(persistTo),
    });
    try {
      await work(openStores(miniflare));
    } finally {
      await miniflare.dispose();
    }
  });
}

function openStores(miniflare: Miniflare): LocalStores {
  const counts: StoreCounts = { rowsWritten: 0, rowsRead: 0, kvReads: 0, kvWrites: 0 };

  async function call<T>(body: unknown): Promise<T> {
    const init = { method: 'POST', body: JSON.stringify(body) };
    const response = await miniflare.dispatchFetch('http://stores.invalid/', init);
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as T;
  }

  async function runBatch(batch: readonly Statement[]): Promise<D1Result[]> {
    const results = await call<D1Result[]>({ batch });
    for (const { meta } of results) {
      counts.rowsWritten += meta.rows_written;
      counts.rowsRead += meta.rows_read;
    }
    return results;
  }

  const prepare = (sql: string, values: readonly unknown[] = []) => {
    const run = async () => (await runBatch([{ sql, values }]))[0]!;
    return {
      sql,
      values,
      bind: (...bound: unknown[]) => prepare(sql, bound),
      run,
      all: run,
      async first(column?: string) {
        const [row] = (await run()).results as Record<string, unknown>[];
        return row === undefined ? null : column === undefined ? row : row[column];
      },
    };
  };
  const ledger = { prepare, batch: runBatch, withSession: () => ledger };
  const nftIndex = {
    get(...get: unknown[]) {
      counts.kvReads += 1;
      return call({ get });
    },
    put(...put: unknown[]) {
      counts.kvWrites += 1;
      return call({ put });
    },
  };
  return {
    ledger: ledger as unknown as D1Database,
    nftIndex: nftIndex as unknown as KVNamespace,
    counts,
  };
}
