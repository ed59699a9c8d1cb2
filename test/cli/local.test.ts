/**
 * What the scripts hold for wrangler's and miniflare's conventions, against wrangler itself.
 */
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unstable_readConfig } from 'wrangler';
import { holdAlone, holdFolder } from '../../cli/lib/wrangler/hold-folder.ts';
import { localDatabasePath, openLocalDatabase } from '../../cli/lib/wrangler/local-database.ts';
import { runWrangler } from '../../cli/lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from '../../cli/lib/wrangler/wrangler-config.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { schema } from '../support/ledger/memory-database.ts';

const folder = temporaryFolder();
const config = readWranglerConfig();

function readAsWrangler(environment: string) {
  return unstable_readConfig({ config: WRANGLER_TOML, env: environment }, { hideWarnings: true });
}

describe('wrangler.toml', () => {
  it.each(['', 'staging'])('is read as wrangler reads it: environment "%s"', (environment) => {
    const theirs = readAsWrangler(environment);
    expect(readWranglerConfig(WRANGLER_TOML, environment)).toEqual({
      workerName: theirs.name,
      compatibilityDate: theirs.compatibility_date,
      compatibilityFlags: theirs.compatibility_flags,
      databaseName: theirs.d1_databases[0]!.database_name,
      namespaceTitle: `${theirs.name}-nft-index`,
      namespaceId: undefined,
      localDatabaseId: 'LEDGER',
      localNamespaceId: 'NFT_INDEX',
      vars: theirs.vars,
    });
  });

  it('has the same Worker for staging, with a name and stores of its own', () => {
    const [production, staging] = [readAsWrangler(''), readAsWrangler('staging')];
    const named = (theirs: typeof staging) => [theirs.name, theirs.d1_databases[0]!.database_name];
    expect(named(production)).toEqual(['stardust-edge-node', 'stardust-ledger']);
    expect(named(staging)).toEqual(['stardust-edge-node-staging', 'stardust-ledger-staging']);
    const alike = (theirs: typeof staging) => ({
      ...theirs,
      name: '',
      d1_databases: { ...theirs.d1_databases[0], database_name: '' },
      targetEnvironment: '',
      definedEnvironments: [],
    });
    expect(alike(staging)).toEqual(alike(production));
    // without IDs, npx stardust-edge deploy creates the stores
    for (const { id } of staging.kv_namespaces) expect(id).toBeUndefined();
    for (const { database_id: id } of staging.d1_databases) expect(id).toBeUndefined();
  });

  it('may be written in other ways', () => {
    const path = join(folder, 'wrangler.toml');
    writeFileSync(
      path,
      `name = 'a' # b
compatibility_date = "2026-01-02"
[ vars ]
QUOTED = "a \\"b\\" # c" # d
LITERAL = 'a "b" \\ c'
NUMBER = 7
[[d1_databases]]
binding = "OTHER"
database_id = "1"
[[d1_databases]]
database_id = "2"
preview_database_id = "3"
binding = "LEDGER"
[[kv_namespaces]]
binding = "NFT_INDEX"
id = "4"
[env.test.vars]
QUOTED = "no"
`,
    );
    expect(readWranglerConfig(path)).toEqual({
      workerName: 'a',
      compatibilityDate: '2026-01-02',
      compatibilityFlags: [],
      databaseName: 'LEDGER',
      namespaceTitle: 'a-nft-index',
      namespaceId: '4',
      localDatabaseId: '3',
      localNamespaceId: '4',
      vars: { QUOTED: 'a "b" # c', LITERAL: 'a "b" \\ c', NUMBER: '7' },
    });
  });

  it('must bind the ledger', () => {
    const path = join(folder, 'empty.toml');
    writeFileSync(path, 'name = "a"\ncompatibility_date = "2026-01-02"\n');
    expect(() => readWranglerConfig(path)).toThrow(
      `${path} has no [[d1_databases]] with binding = "LEDGER"`,
    );
  });

  it('must have the environment', () => {
    expect(() => readWranglerConfig(WRANGLER_TOML, 'stage')).toThrow(
      `${WRANGLER_TOML} has no [env.stage]`,
    );
  });
});

describe('the local database', () => {
  it.runIf(process.env.SLOW)(
    'is the file that wrangler makes, and has the tables that wrangler makes',
    async () => {
      const theirs = join(folder, 'theirs');
      await runWrangler([
        'd1',
        'migrations',
        'apply',
        config.databaseName,
        '--local',
        '--persist-to',
        theirs,
      ]);
      expect(existsSync(localDatabasePath(theirs, config))).toBe(true);
      const [made, own] = [
        await openLocalDatabase(theirs, config),
        await openLocalDatabase(join(folder, 'ours'), config),
      ];
      const { results } = await made.prepare('SELECT id, name FROM d1_migrations').all();
      expect(results.map(({ name }) => name)).toEqual(readdirSync('migrations').sort());
      expect((await own.prepare('SELECT id, name FROM d1_migrations').all()).results).toEqual(
        results,
      );
      const withoutTheirs = (rows: unknown[]) =>
        rows.filter((row) => !JSON.stringify(row).includes('_cf_'));
      expect(withoutTheirs(await schema(made))).toEqual(withoutTheirs(await schema(own)));
      made.close();
      own.close();
    },
  );
});

it('a data folder that it makes is for its user alone', async () => {
  const made = join(folder, 'made', 'state');
  (await openLocalDatabase(made, config)).close();
  const path = localDatabasePath(made, config);
  const modes = [made, dirname(path), path].map((each) => statSync(each).mode & 0o777);
  expect(modes).toEqual([0o700, 0o700, 0o600]);
});

it.each(['serve.lock', 'v3', 'v3/cache', 'v3/kv/NFT_INDEX', 'v3/d1/a/b'])(
  '%s that cannot be written is named',
  async (name) => {
    const own = join(folder, `not-ours-${name.replaceAll('/', '-')}`);
    mkdirSync(dirname(join(own, name)), { recursive: true });
    // root may write whatever there is
    symlinkSync('nothing', join(own, name));
    const sentence = `${join(own, name)} cannot be written: it may be another user's`;
    expect(() => holdFolder(own)).toThrow(sentence);
    if (name.endsWith('.lock')) (await openLocalDatabase(own, config)).close();
    else await expect(openLocalDatabase(own, config)).rejects.toThrow(sentence);
  },
);

it('locks of a back-up and an import that root made keep no service from its start', async () => {
  const own = join(folder, 'root-made-locks');
  mkdirSync(own);
  for (const name of ['backup', 'import']) symlinkSync('nothing', join(own, `${name}.lock`));
  holdFolder(own).close();
  (await openLocalDatabase(own, config)).close();
  const sentence = `${join(own, 'backup.lock')} cannot be written`;
  expect(() => holdAlone(own, 'backup')).toThrow(sentence);
});

it('two commands that open a new database at once both get it', async () => {
  const persistTo = join(folder, 'at-once');
  // each has read that nothing is applied before the other applies anything
  const opened = await Promise.all([1, 2].map(() => openLocalDatabase(persistTo, config)));
  const [first, second] = await Promise.all(opened.map((db) => schema(db)));
  expect(first).toEqual(second);
  for (const db of opened) db.close();
});

it('a note of a migration that is damaged: a sentence says what to do', async () => {
  const own = join(folder, 'damaged-note');
  const db = await openLocalDatabase(own, config);
  db.exec("UPDATE d1_migrations SET name = replace(name, '0001', '0011')");
  db.close();
  await expect(openLocalDatabase(own, config)).rejects.toThrow(
    '0001_ledger.sql cannot be applied to the database, which is damaged (table head already exists): ' +
      'import a snapshot or restore a back-up into a new folder',
  );
});
