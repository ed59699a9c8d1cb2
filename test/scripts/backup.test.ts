/**
 * A back-up by `wrangler d1 export`, restored into an empty database as docs/operations.md#back-up
 * says, all of it on this machine.
 */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cutStatement, MAX_STATEMENT_BYTES } from '../../scripts/cut-backup/cut-statements.ts';
import { PROJECT } from '../../scripts/lib/project.ts';
import { openLocalDatabase } from '../../scripts/lib/wrangler/local-database.ts';
import { runWrangler } from '../../scripts/lib/wrangler/run-wrangler.ts';
import { SqliteDatabase } from '../../scripts/lib/wrangler/sqlite-database.ts';
import { readWranglerConfig } from '../../scripts/lib/wrangler/wrangler-config.ts';
import { prepareSample } from '../../scripts/start/prepare-sample.ts';
import { dump, schema } from '../support/ledger/memory-database.ts';
import { runScript, temporaryFolder } from '../support/scripts/script-process.ts';

const folder = temporaryFolder();
const config = readWranglerConfig();

/** All that the database has, its tables' definitions too. */
async function everything(persistTo: string): Promise<unknown> {
  const db = await openLocalDatabase(persistTo, config);
  try {
    const tables = (await schema(db)) as { name: string }[];
    const own = tables.filter(({ name }) => !/^(sqlite_|_cf_)/.test(name));
    const { _cf_METADATA: _, ...rows } = await dump(db); // workerd's own
    return { schema: own, rows };
  } finally {
    db.close();
  }
}

describe('a back-up', { timeout: 120_000 }, () => {
  it('brings everything back, rows of more than 100 KB too', async () => {
    // export knows the data beside a wrangler.toml only
    const project = join(folder, 'project');
    const persistTo = join(project, '.wrangler', 'state');
    await prepareSample(persistTo, config, () => {});
    copyFileSync(join(PROJECT, 'wrangler.toml'), join(project, 'wrangler.toml'));
    const db = await openLocalDatabase(persistTo, config);
    db.exec(`UPDATE pack_content SET bytes = json_array(hex(randomblob(90000)), 'it''s, "ü"')`);
    db.close();

    const exported = join(folder, 'exported.sql');
    const backup = join(folder, 'backup.sql');
    const restored = join(folder, 'restored');
    const { databaseName } = config;
    const local = ['--local', '--config', join(project, 'wrangler.toml')];
    const execute = (file: string) =>
      runWrangler([
        'd1',
        'execute',
        databaseName,
        '--local',
        '--persist-to',
        restored,
        '--file',
        file,
      ]);
    await runWrangler(['d1', 'export', databaseName, ...local, '--output', exported]);
    await expect(execute(exported)).rejects.toThrow('statement too long');
    expect(await runScript('cut-backup.ts', exported, backup)).toMatchObject({ code: 0 });
    const lines = readFileSync(backup, 'utf8').split('\n');
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(
      MAX_STATEMENT_BYTES,
    );
    await execute(backup);
    expect(await everything(restored)).toEqual(await everything(persistTo));
  });

  it('is not written over, and needs two files', async () => {
    const from = join(folder, 'exported.sql');
    expect(await runScript('cut-backup.ts', from, from)).toMatchObject({ code: 1 });
    expect(await runScript('cut-backup.ts', from)).toMatchObject({ code: 2 });
  });
});

describe('cutStatement', () => {
  const short = 'INSERT INTO "t" ("a","b") VALUES(1,\'x\');';

  it('leaves what is short as it is', () => {
    expect([...cutStatement(short)]).toEqual([short]);
    expect([...cutStatement('anything')]).toEqual(['anything']);
  });

  it('brings texts with quotes, commas and characters of several bytes through', async () => {
    const most = 2_000;
    const texts = ["''',('", "'".repeat(3_000), 'ü€😀'.repeat(900), '', 'x'];
    const db = new SqliteDatabase(':memory:');
    db.exec('CREATE TABLE "t" ("a" INTEGER PRIMARY KEY,"b" TEXT,"c" TEXT,"d" TEXT)');
    for (const [i, text] of texts.entries()) {
      const quoted = `'${text.replaceAll("'", "''")}'`;
      const line = `INSERT INTO "t" ("a","b","c","d") VALUES(${i},${quoted},NULL,${quoted});`;
      for (const statement of cutStatement(line, most)) {
        expect(Buffer.byteLength(statement)).toBeLessThanOrEqual(most);
        db.exec(statement);
      }
    }
    const { results } = await db.prepare('SELECT a, b, c, d FROM t ORDER BY a').all();
    expect(results.map((row) => ({ ...row }))).toEqual(
      texts.map((text, a) => ({ a, b: text, c: null, d: text })),
    );
  });

  it.each([
    `CREATE TABLE "t" (a) -- ${'x'.repeat(200)}`,
    `INSERT INTO "t" VALUES(1,'${'x'.repeat(200)}');`,
    `INSERT INTO "t" ("a","b") VALUES('${'x'.repeat(200)}');`,
    `INSERT INTO "t" ("a","b") VALUES(1,'${'x'.repeat(200)}'x);`,
  ])('does not guess at %s', (line) => {
    expect(() => [...cutStatement(line, 100)]).toThrow('is no INSERT');
  });
});
