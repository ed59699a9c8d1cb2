/**
 * Ledgers to ask questions about, in folders that the Worker takes as `persistTo`. They are written by the ledger's own functions, through the same D1 and
 * KV that the Worker reads afterwards.
 */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');

export interface Databases {
  db: D1Database;
  kv: KVNamespace;
}

/** Opens the databases of a folder, with tables in them if it is new, and closes them behind `work`. */
export async function withDatabases<T>(folder: string, work: (databases: Databases) => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true });
  const options = convertV4MiniflareOptions({
    modules: true,
    script: 'export default { fetch: () => new Response() }',
    d1Databases: { LEDGER: '00000000-0000-0000-0000-000000000000' },
    kvNamespaces: { NFT_INDEX: '00000000000000000000000000000000' },
  });
  const miniflare = new Miniflare({ ...options, resourcePersistencePath: join(folder, 'v3') });
  try {
    const db = (await miniflare.getD1Database('LEDGER')) as unknown as D1Database;
    const kv = (await miniflare.getKVNamespace('NFT_INDEX')) as unknown as KVNamespace;
    const tables = await db.prepare("SELECT count(*) AS count FROM sqlite_master WHERE name = 'head'").first('count');
    if (tables === 0) await migrate(db);
    return await work({ db, kv });
  } finally {
    await miniflare.dispose();
  }
}

async function migrate(db: D1Database): Promise<void> {
  for (const name of (await readdir(MIGRATIONS)).sort()) {
    const sql = (await readFile(join(MIGRATIONS, name), 'utf8')).replaceAll(/--.*$/gm, '');
    await db.batch(
      sql
        .split(';')
        .filter((statement) => statement.trim() !== '')
        .map((statement) => db.prepare(statement)),
    );
  }
}
