/**
 * A back-up by `wrangler d1 export`, restored into an empty database by the commands of
 * docs/operations.md, all of it on this machine.
 */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { cutExport } from '../../cli/backup/cut-export.ts';
import { cutStatement, MAX_STATEMENT_BYTES } from '../../cli/backup/cut-statements.ts';
import { restore } from '../../cli/backup/restore.ts';
import { PROJECT } from '../../cli/lib/project.ts';
import { holdAlone } from '../../cli/lib/wrangler/hold-folder.ts';
import { openLocalDatabase, persistPath } from '../../cli/lib/wrangler/local-database.ts';
import { runWrangler } from '../../cli/lib/wrangler/run-wrangler.ts';
import { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import { readWranglerConfig } from '../../cli/lib/wrangler/wrangler-config.ts';
import { prepareSample } from '../../cli/start/prepare-sample.ts';
import { readHead } from '../../src/ledger/core/head.ts';
import { runCommand, temporaryFolder } from '../support/cli/script-process.ts';
import { dump, schema } from '../support/ledger/memory-database.ts';

const folder = temporaryFolder();
const config = readWranglerConfig();

/** All that the database has, its tables' definitions too. */
async function everything(persistTo: string): Promise<unknown> {
  const db = await openLocalDatabase(persistTo, config);
  try {
    const tables = (await schema(db)) as { name: string }[];
    const own = tables.filter(({ name }) => !/^(sqlite_|_cf_)/.test(name));
    // workerd's own, and that of headOf
    const { _cf_METADATA: _, head: __, ...rows } = await dump(db);
    return { schema: own, rows };
  } finally {
    db.close();
  }
}

/** The commands of docs/operations.md in the first block behind this text. */
function commandsBehind(text: string): string[] {
  const page = readFileSync(join(PROJECT, 'docs/operations.md'), 'utf8');
  const block = /\n\n((?: {4}.*\n)+)/.exec(page.slice(page.indexOf(text)))![1]!;
  return block.trim().split(/\n\s*/);
}

/** The row of head apart from what names the import, and the head as the node reads it. */
async function headOf(persistTo: string) {
  const db = await openLocalDatabase(persistTo, config);
  try {
    const { generation, ...head } = (await readHead(db))!;
    return { generation, head };
  } finally {
    db.close();
  }
}

describe('a back-up', () => {
  it('brings everything back, rows of more than 100 KB too', async () => {
    // export knows the data beside a wrangler.toml only
    const project = join(folder, 'project');
    const persistTo = join(project, '.wrangler', 'state');
    await prepareSample(persistTo, config, () => {});
    copyFileSync(join(PROJECT, 'wrangler.toml'), join(project, 'wrangler.toml'));
    const db = await openLocalDatabase(persistTo, config);
    db.exec(`UPDATE pack_content SET bytes = json_array(hex(randomblob(90000)), 'it''s, "ü"')`);
    // an upstream's name of its network may have any character, and so a reason
    db.exec(`UPDATE follower SET reason = 'a\u2028b\rc'`);
    db.close();

    const files: Record<string, string> = {
      BACKUP: join(folder, 'backup.sql'),
      CUT: join(folder, 'cut.sql'),
    };
    const restored = join(folder, 'restored');
    const where: Record<string, string[]> = {
      export: ['--config', join(project, 'wrangler.toml')],
      execute: ['--persist-to', restored],
    };
    /** On this machine in place of Cloudflare, where a database need not be created. */
    const run = async (command: string) => {
      const [tool, name, ...words] = command.split(' ');
      const rest = words
        .map((word) => files[word] ?? word)
        .map((word) => (word === '--remote' ? '--local' : word))
        .map((word) => (word.startsWith('stardust-ledger') ? config.databaseName : word));
      if (`${tool} ${name}` === 'npx stardust-edge')
        expect(await runCommand(...(rest as [string, ...string[]]))).toMatchObject({ code: 0 });
      else if (rest[1] !== 'create') await runWrangler([...rest, ...where[rest[1]!]!]);
    };
    for (const command of commandsBehind('**On Cloudflare** (')) await run(command);
    const restoring = commandsBehind('**From a back-up** (Cloudflare)');
    await expect(run(restoring.at(-1)!.replace('CUT', 'BACKUP'))).rejects.toThrow(
      'statement too long',
    );
    for (const command of restoring) await run(command);
    const lines = readFileSync(files.CUT!, 'utf8').split('\n');
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(
      MAX_STATEMENT_BYTES,
    );
    const [before, after] = [await headOf(persistTo), await headOf(restored)];
    expect(after.head).toEqual(before.head);
    expect(after.generation).not.toBe(before.generation);
    expect(await everything(restored)).toEqual(await everything(persistTo));
    // each cut is an import of its own
    files.CUT = join(folder, 'cut-again.sql');
    await run(restoring[0]!);
    expect(readFileSync(files.CUT, 'utf8')).not.toContain(after.generation);
  });

  it('is whole where two calls write it at the same time', async () => {
    const [from, to] = [join(folder, 'backup.sql'), join(folder, 'of-two.sql')];
    await Promise.all([cutExport(from, to), cutExport(from, to)]);
    const withoutHead = (path: string) =>
      readFileSync(path, 'utf8').replace(/^INSERT INTO "head" .*$/m, '');
    expect(withoutHead(to)).toBe(withoutHead(join(folder, 'cut.sql')));
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });

  it('is refused where the export ends early', async () => {
    const whole = readFileSync(join(folder, 'backup.sql'), 'utf8').trimEnd().split('\n');
    const [cut, to] = [join(folder, 'ends-early.sql'), join(folder, 'of-less.sql')];
    const head = whole.findIndex((line) => line.startsWith('INSERT INTO "head" '));
    for (const lines of [head + 1, whole.length - 1]) {
      writeFileSync(cut, whole.slice(0, lines).join('\n'));
      await expect(cutExport(cut, to)).rejects.toThrow('no whole export');
    }
    expect(existsSync(to)).toBe(false);
  });

  it('may be of a release that made fewer indexes', async () => {
    const migrations = join(folder, 'migrations');
    cpSync(join(PROJECT, 'migrations'), migrations, { recursive: true });
    writeFileSync(join(migrations, '9999_next.sql'), 'CREATE INDEX next ON nft (changed);');
    const [from, to] = [join(folder, 'backup.sql'), join(folder, 'of-fewer.sql')];
    await cutExport(from, to, migrations);
    expect(existsSync(to)).toBe(true);
    // one that made it has it, and what a later one made is not known
    const noting = (name: string) => {
      const path = join(folder, name);
      const noted = `INSERT INTO "d1_migrations" ("id","name") VALUES(99,'${name}');`;
      writeFileSync(path, `${noted}\n${readFileSync(from, 'utf8')}`);
      return cutExport(path, `${path}.cut`, migrations);
    };
    await expect(noting('9999_next.sql')).rejects.toThrow('no whole export');
    await noting('9999_other.sql');
  });

  it('is not written over, and needs two files', async () => {
    const from = join(folder, 'backup.sql');
    expect(await runCommand('backup', '--from-d1', from, from)).toMatchObject({ code: 1 });
    expect(await runCommand('backup', '--from-d1', from)).toMatchObject({ code: 2 });
  });
});

describe('cutStatement', () => {
  const short = 'INSERT INTO "t" ("a","b") VALUES(1,\'x\');';

  it('leaves what is short as it is', () => {
    expect([...cutStatement(short)]).toEqual([short]);
    expect([...cutStatement('anything')]).toEqual(['anything']);
  });

  it('brings texts with quotes, commas and characters of several bytes through', async () => {
    const most = 8_000;
    const texts = [
      "''',('",
      "'".repeat(3_000),
      'ü€😀'.repeat(3_000),
      `x${'😀'.repeat(3_000)}`,
      '',
      '€'.repeat(9_000),
      'x',
    ];
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

  it('brings long rows through that share the first column of their key', async () => {
    const db = new SqliteDatabase(':memory:');
    db.exec('CREATE TABLE "t" ("a" INTEGER,"b" INTEGER,"c" TEXT,PRIMARY KEY ("a","b"))');
    const texts = ['x'.repeat(3_000), 'y'.repeat(5_000), 'z'.repeat(4_000)];
    for (const [part, text] of texts.entries()) {
      const line = `INSERT INTO "t" ("a","b","c") VALUES(7,${part},'${text}');`;
      for (const statement of cutStatement(line, 2_000)) db.exec(statement);
    }
    const { results } = await db.prepare('SELECT c FROM t ORDER BY b').all();
    expect(results.map(({ c }) => texts.indexOf(String(c)))).toEqual([0, 1, 2]);
  });

  it.each([
    `CREATE TABLE "t" (a) -- ${'x'.repeat(200)}`,
    `INSERT INTO "t" VALUES(1,'${'x'.repeat(200)}');`,
    `INSERT INTO "t" ("a","b") VALUES('${'x'.repeat(200)}');`,
    `INSERT INTO "t" ("a","b") VALUES(1,'${'x'.repeat(200)}'x);`,
    `INSERT INTO "t" ("a","b") VALUES(,'${'x'.repeat(200)}');`,
  ])('does not guess at %s', (line) => {
    expect(() => [...cutStatement(line, 100)]).toThrow('is no INSERT');
  });
});

describe('npx stardust-edge backup and restore', () => {
  const served = join(folder, 'served');
  const backUp = (file: string) => runCommand('backup', '--persist-to', served, file);

  beforeAll(() => prepareSample(served, config, () => {}));

  it('is restored into a folder that was there, as a volume is, which stays as it is', async () => {
    const file = join(folder, 'for-volume');
    await backUp(file);
    // of an import that was given up
    const staged = new SqliteDatabase(file);
    staged.exec('CREATE TABLE import_output AS SELECT * FROM output');
    staged.close();
    const volume = join(folder, 'volume');
    mkdirSync(volume);
    chmodSync(volume, 0o750);
    // of a restore that was killed
    mkdirSync(join(volume, 'restore.partial'));
    const identity = ({ ino, mode }: Stats) => [ino, mode];
    const before = identity(statSync(volume));
    expect(await runCommand('restore', '--persist-to', volume, file)).toMatchObject({ code: 0 });
    expect(identity(statSync(volume))).toEqual(before);
    expect(readdirSync(volume).sort()).toEqual(['serve.lock', 'v3']);
    const restored = await openLocalDatabase(volume, config);
    expect(JSON.stringify(await schema(restored))).not.toContain('import_output');
    restored.close();
    // nobody else may read the copy
    const made = readdirSync(volume, { recursive: true, encoding: 'utf8' });
    expect(made.length).toBeGreaterThan(3);
    expect(made.filter((name) => statSync(join(volume, name)).mode & 0o077)).toEqual([]);
  });

  it('and reindex leave the tables as they are that an older release serves', async () => {
    const older = join(folder, 'older');
    cpSync(served, older, { recursive: true });
    const db = await openLocalDatabase(older, config);
    db.exec(`UPDATE head SET schema = 2, sum = sum - 1;
      DELETE FROM d1_migrations WHERE name = '0004_rests.sql'`);
    const before = await dump(db);
    const sentence = `${older} is of an older release: use that one, or serve it by this one first\n`;
    for (const args of [['backup', join(folder, 'of-older')], ['reindex']]) {
      const [command, ...rest] = args as [string];
      const said = await runCommand(command, '--persist-to', older, ...rest);
      expect([said.code, said.stderr]).toEqual([1, sentence]);
    }
    expect(await dump(db)).toEqual(before);
    db.close();
  });

  it('that fails leaves nothing on a disk that it may have filled', async () => {
    const damaged = join(folder, 'damaged');
    cpSync(served, damaged, { recursive: true });
    const db = await openLocalDatabase(damaged, config);
    // found by the state hash of the copy
    db.exec("UPDATE output SET bytes = 'AAAA'");
    db.close();
    const file = join(folder, 'failed');
    expect(await runCommand('backup', '--persist-to', damaged, file)).toMatchObject({ code: 1 });
    expect(readdirSync(folder).filter((name) => name.startsWith('failed'))).toEqual([]);
  });

  it('is not restored with a damaged page, though the state hash does not read it', async () => {
    const file = join(folder, 'spoilt');
    await backUp(file);
    const db = new SqliteDatabase(file);
    const page = db.prepare(
      "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'pack'",
    );
    const { rootpage, page_size: size } = (await page.first<Record<string, number>>())!;
    db.close();
    const handle = openSync(file, 'r+');
    writeSync(handle, new Uint8Array(size!), 0, size!, (rootpage! - 1) * size!);
    closeSync(handle);
    const { code, stderr } = await runCommand('restore', '--persist-to', join(folder, 'not'), file);
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be restored')]);
    expect(existsSync(join(folder, 'not'))).toBe(false);
  });

  it('is not restored where its end is missing, or all of it', async () => {
    const file = join(folder, 'cut-off');
    await backUp(file);
    const whole = readFileSync(file);
    // a page whose end is missing is read as if zeros were there
    for (const length of [whole.length - 1, whole.length >> 1, 0]) {
      writeFileSync(file, whole.subarray(0, length));
      const restoring = restore(file, join(folder, 'not'), config);
      await expect(restoring, String(length)).rejects.toThrow('cannot be restored');
      expect(existsSync(join(folder, 'not'))).toBe(false);
    }
  });

  it('leaves what another command made in the new folder meanwhile', async () => {
    const file = join(folder, 'for-race');
    await backUp(file);
    const fresh = join(folder, 'fresh');
    const restoring = restore(file, fresh, config);
    const other = join(persistPath(fresh), 'd1', 'other');
    mkdirSync(other, { recursive: true });
    await expect(restoring).rejects.toThrow('cannot be restored');
    expect(readdirSync(join(other, '..'))).toEqual(['other']);
  });

  it('one at a time is made of a folder, and what is no export leaves nothing', async () => {
    const held = holdAlone(served, 'backup');
    const file = join(folder, 'second');
    expect(await backUp(file)).toEqual({
      code: 1,
      stdout: '',
      stderr: `another backup of ${served} is under way: wait until it has ended\n`,
    });
    held.close();
    const text = join(folder, 'no-export');
    writeFileSync(text, 'SELECT 1;\n');
    expect(await runCommand('backup', '--from-d1', text, file)).toMatchObject({ code: 1 });
    expect(readdirSync(folder).filter((name) => name.startsWith('second'))).toEqual([]);
  });
});
