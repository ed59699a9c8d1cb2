/**
 * `npm run reindex`, as the process that operators start.
 */
import { join } from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { describe, expect, it } from 'vitest';
import { openLocalDatabase, persistPath } from '../../scripts/lib/local-database.ts';
import { reindexRemotely } from '../../scripts/lib/reindex.ts';
import { runWrangler } from '../../scripts/lib/run-wrangler.ts';
import { readWranglerConfig } from '../../scripts/lib/wrangler-config.ts';
import { entryKey, readEntry } from '../../src/nft-index/kv-entry.ts';
import type { IndexStore } from '../../src/nft-index/ports.ts';
import { runScript, temporaryFolder, unpackVector } from '../support/scripts/script-process.ts';

const folder = temporaryFolder();
const config = readWranglerConfig();
const persistTo = join(folder, 'state');

async function withKv<T>(use: (kv: IndexStore) => Promise<T>): Promise<T> {
  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({
      modules: true,
      script: 'export default {}',
      kvNamespaces: { NFT_INDEX: config.localNamespaceId },
      cf: false,
    }),
    resourcePersistencePath: persistPath(persistTo),
  });
  try {
    return await use((await miniflare.getKVNamespace('NFT_INDEX')) as unknown as IndexStore);
  } finally {
    await miniflare.dispose();
  }
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const db = await openLocalDatabase(persistTo, config);
  try {
    return (await db.prepare(sql).all<Record<string, unknown>>()).results;
  } finally {
    db.close();
  }
}

describe('reindex', { timeout: 60_000 }, () => {
  it('puts an entry that was broken by hand once more', async () => {
    const full = unpackVector(folder, 'network-a/full_snapshot.bin');
    const delta = unpackVector(folder, 'network-a/delta_snapshot.bin');
    await runScript('import.ts', '--full', full, '--delta', delta, '--persist-to', persistTo);
    const [nft] = await query('SELECT id, output FROM nft ORDER BY id LIMIT 1');
    const key = entryKey(String(nft!.id));
    await withKv((kv) => kv.put(key, 'broken'));

    const { code, stderr } = await runScript('reindex.ts', '--persist-to', persistTo);
    expect([code, stderr]).toEqual([0, '']);
    const text = await withKv((kv) => kv.get(key, { type: 'text', cacheTtl: 30 }));
    expect(readEntry(text)).toMatchObject({ value: { outputId: nft!.output } });
  });

  it('tells the deployed publisher by a command that wrangler understands', async () => {
    expect(await query('SELECT 1 FROM nft_index')).toHaveLength(1);
    await reindexRemotely(config, (args) =>
      runWrangler([
        ...args.map((arg) => (arg === '--remote' ? '--local' : arg)),
        '--persist-to',
        persistTo,
      ]),
    );
    expect(await query('SELECT 1 FROM nft_index')).toHaveLength(0);
  });

  it('explains its options', async () => {
    const help = await runScript('reindex.ts', '--help');
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('--remote')]);
    const both = await runScript('reindex.ts', '--remote', '--persist-to', persistTo);
    expect([both.code, both.stderr]).toEqual([1, expect.stringContaining('local data')]);
  });
});
