/**
 * `stardust-edge reindex`, as the process that operators start.
 */
import { execFile } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { holdFolder } from '../../cli/lib/wrangler/hold-folder.ts';
import { openLocalDatabase, persistPath } from '../../cli/lib/wrangler/local-database.ts';
import { withLocalKv } from '../../cli/lib/wrangler/local-kv.ts';
import { runWrangler } from '../../cli/lib/wrangler/run-wrangler.ts';
import { readWranglerConfig } from '../../cli/lib/wrangler/wrangler-config.ts';
import { reindexRemotely } from '../../cli/reindex/reindex.ts';
import { entryKey, readEntry } from '../../src/nft-index/kv-values.ts';
import { callCommand } from '../support/cli/call-script.ts';
import { runCommand, temporaryFolder, unpackVector } from '../support/cli/script-process.ts';

const folder = temporaryFolder();
const config = readWranglerConfig();
const persistTo = join(folder, 'state');

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const db = await openLocalDatabase(persistTo, config);
  try {
    return (await db.prepare(sql).all<Record<string, unknown>>()).results;
  } finally {
    db.close();
  }
}

describe('reindex', () => {
  it('writes an entry again that was damaged by hand', async () => {
    const full = unpackVector(folder, 'network-a/full_snapshot.bin');
    const delta = unpackVector(folder, 'network-a/delta_snapshot.bin');
    await runCommand('import', full, '--delta', delta, '--persist-to', persistTo);
    const [nft] = await query('SELECT id, output FROM nft ORDER BY id LIMIT 1');
    const key = entryKey(String(nft!.id));
    await withLocalKv(persistTo, config, (kv) => kv.put(key, 'broken'));

    const { code, stdout } = await runCommand('reindex', '--persist-to', persistTo);
    expect([code, stdout]).toEqual([0, 'All entries were written.\n']);
    const text = await withLocalKv(persistTo, config, (kv) =>
      kv.get(key, { type: 'text', cacheTtl: 30 }),
    );
    expect(readEntry(String(nft!.id), text)).toMatchObject({ value: { outputId: nft!.output } });
  });

  it.runIf(process.env.SLOW)('shows in a terminal how far it is', async () => {
    const command = `exec ${process.execPath} cli/stardust-edge.js reindex --persist-to ${persistTo}`;
    // a terminal of its own
    const args = ['-qfec', command, '/dev/null'];
    const { stdout } = await promisify(execFile)('script', args, { cwd: PROJECT });
    expect(stdout).toMatch(/Writing the NFT index .* %, \d+ rows of 60 rows/);
    expect(stdout).toContain('All entries were written.');
  });

  it('ends with sentences where KV cannot be written', async () => {
    const broken = join(folder, 'broken');
    cpSync(persistTo, broken, { recursive: true });
    const kv = join(persistPath(broken), 'kv');
    rmSync(kv, { recursive: true });
    writeFileSync(kv, '');
    const { code, stderr } = await runCommand('reindex', '--persist-to', broken);
    expect([code, stderr.match(/^ {4}at .*/m)]).toEqual([1, null]);
    expect(stderr).toContain(`the ledger of ${broken} is there, but its NFT index could not be`);
  });

  it('leaves the entries to the node that serves the folder', async () => {
    using _held = holdFolder(persistTo);
    const { code, stdout, stderr } = await runCommand('reindex', '--persist-to', persistTo);
    const sentence = `The node that serves ${persistTo} writes all entries again, page by page`;
    expect([code, stdout, stderr]).toEqual([0, `${sentence}; D1 answers until then.\n`, '']);
    expect(await query('SELECT 1 FROM nft_index')).toHaveLength(0);
  });

  it.runIf(process.env.SLOW)(
    'tells the deployed publisher by a command that wrangler understands',
    async () => {
      await runCommand('reindex', '--persist-to', persistTo);
      expect(await query('SELECT 1 FROM nft_index')).toHaveLength(1);
      await reindexRemotely(config, (args) =>
        runWrangler([
          ...args.map((arg) => (arg === '--remote' ? '--local' : arg)),
          '--persist-to',
          persistTo,
        ]),
      );
      expect(await query('SELECT 1 FROM nft_index')).toHaveLength(0);
    },
  );

  it('explains its options', async () => {
    const help = await callCommand('reindex', '--help');
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('--remote')]);
    const both = await callCommand('reindex', '--remote', '--persist-to', persistTo);
    expect([both.code, both.stderr]).toEqual([
      2,
      expect.stringContaining('cannot be used with option'),
    ]);
  });
});
