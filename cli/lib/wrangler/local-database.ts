/**
 * The ledger's database on this machine: the file that `wrangler dev --persist-to DIR` serves from,
 * with all migrations applied.
 *
 * The file's path and the table that notes migrations are conventions of wrangler and miniflare.
 * Tests compare them with what wrangler makes.
 */
import { createHash, createHmac } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readHead } from '../../../src/ledger/core/head.ts';
import { errorMessage } from '../process/command-line.ts';
import { PROJECT } from '../project.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import type { WranglerConfig } from './wrangler-config.ts';

/** Miniflare's Durable Object class for D1. */
const UNIQUE_KEY = 'miniflare-D1DatabaseObject';

/** As a table that it is to make is there: https://www.sqlite.org/rescode.html#error */
const SQLITE_ERROR = 1;

/** As wrangler makes it. */
const CREATE_MIGRATIONS = `
  CREATE TABLE IF NOT EXISTS "d1_migrations"(
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		name       TEXT UNIQUE,
		applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** Where miniflare keeps its data below wrangler's `--persist-to`. */
export function persistPath(persistTo: string): string {
  return join(resolve(persistTo), 'v3');
}

export function localDatabasePath(persistTo: string, { localDatabaseId }: WranglerConfig): string {
  return join(
    persistPath(persistTo),
    'd1',
    UNIQUE_KEY,
    `${objectId(UNIQUE_KEY, localDatabaseId)}.sqlite`,
  );
}

/** The ID of a Durable Object by its name, as workerd computes it. */
function objectId(uniqueKey: string, name: string): string {
  const key = createHash('sha256').update(uniqueKey).digest();
  const half = (data: string | Buffer) =>
    createHmac('sha256', key).update(data).digest().subarray(0, 16);
  const first = half(name);
  return Buffer.concat([first, half(first)]).toString('hex');
}

/**
 * Makes the data folder, if need be. Throws an Error with a sentence if it cannot be written.
 *
 * @param lockFile the lock that is wanted: those of other commands may be another user's
 */
export function makeDataFolder(persistTo: string, lockFile?: string): void {
  try {
    makeFolder(persistTo);
    accessSync(persistTo, constants.W_OK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const problem = ['EEXIST', 'ENOTDIR'].includes(code)
      ? 'is not a folder'
      : `cannot be written (${code}): name another folder by --persist-to`;
    throw new Error(`${persistTo} ${problem}`, { cause: error });
  }
  requireWritable(persistTo, lockFile);
}

/** Folders below the data folder that have databases: v3/d1/CLASS. */
const DATABASE_DEPTH = 3;

/** Throws an Error with a sentence if databases or the lock cannot be written. */
function requireWritable(persistTo: string, lockFile?: string): void {
  for (const name of entriesOf(persistTo))
    if (name === lockFile || name === 'v3') requireAllWritable(join(persistTo, name));
}

/** As {@link requireWritable}, of a file, or of a folder and what it has. */
function requireAllWritable(path: string, depth = DATABASE_DEPTH): void {
  // a file that SQLite makes for a time may have gone
  if (!isWritable(path) && lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw new Error(
      `${path} cannot be written: it may be another user's, such as root's; ` +
        `chown -R the folder, and run every command as one user`,
    );
  if (depth > 0)
    for (const name of entriesOf(path)) requireAllWritable(join(path, name), depth - 1);
}

const entriesOf = (path: string) => (isFolder(path) && isWritable(path) ? readdirSync(path) : []);

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Node's `recursive` does not return where the system reports ENOENT, as in /proc. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, PRIVATE_FOLDER);
  } catch (error) {
    // another command may have made it
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** For the user of this process alone: a folder that was there before stays as it is. */
const PRIVATE_FOLDER = { mode: 0o700 };
const PRIVATE_FILE = 0o600;

/** Makes an empty file, if there is none; SQLite takes it for a new database. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', PRIVATE_FILE));
}

/** Opens the database, or makes it, and applies the migrations that it lacks. */
export async function openLocalDatabase(
  persistTo: string,
  config: WranglerConfig,
  prepare: (db: SqliteDatabase) => Promise<void> = migrate,
): Promise<SqliteDatabase> {
  makeDataFolder(persistTo);
  const path = localDatabasePath(persistTo, config);
  mkdirSync(dirname(path), { recursive: true, ...PRIVATE_FOLDER });
  makePrivateFile(path);
  const db = new SqliteDatabase(path);
  try {
    await prepare(db);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/**
 * Opens the database of a folder that has a ledger. Throws an Error with a sentence if it has none:
 * then nothing is made there; and if it is an older release's, which may serve it.
 */
export async function openLedger(
  persistTo: string,
  config: WranglerConfig,
): Promise<SqliteDatabase> {
  if (existsSync(localDatabasePath(persistTo, config))) {
    const db = await openLocalDatabase(persistTo, config, async (found) => {
      const { applied, due } = await readMigrations(found);
      if (applied.length > 0 && due.length > 0)
        throw new Error(
          `${persistTo} is of an older release: use that one, or serve it by this one first`,
        );
      await migrate(found);
    });
    try {
      if ((await readHead(db)) !== undefined) return db;
    } catch (error) {
      db.close();
      throw error;
    }
    db.close();
  }
  requireWritable(persistTo);
  throw new Error(`${persistTo} has no ledger: name another folder by --persist-to`);
}

const MIGRATIONS = join(PROJECT, 'migrations');

/** Names of migrations: those applied, those of the folder that are due, and those it has not. */
export async function readMigrations(
  db: SqliteDatabase,
  folder = MIGRATIONS,
): Promise<Record<'applied' | 'due' | 'newer', string[]>> {
  db.exec(CREATE_MIGRATIONS);
  const { results } = await db.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  const applied = results.map(({ name }) => name);
  const own = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const due = own.filter((name) => !applied.includes(name)).sort();
  return { applied, due, newer: applied.filter((name) => !own.includes(name)) };
}

/**
 * Applies the migrations that are not applied yet, each in its own transaction. Throws an Error with
 * a sentence if one cannot be.
 */
export async function migrate(db: SqliteDatabase, folder = MIGRATIONS): Promise<void> {
  for (const name of (await readMigrations(db, folder)).due) {
    const sql = readFileSync(join(folder, name), 'utf8');
    const note = `INSERT INTO d1_migrations (name) VALUES ('${name}')`;
    try {
      db.transact(() => db.exec(`${sql}\n;${note}`));
    } catch (error) {
      // another command may have applied it meanwhile
      if ((await readMigrations(db, folder)).applied.includes(name)) continue;
      if ((error as { errcode?: number }).errcode !== SQLITE_ERROR) throw error;
      const sentence = `${name} cannot be applied to the database, which is damaged`;
      throw new Error(
        `${sentence} (${errorMessage(error)}): import a snapshot or restore a back-up into a new folder`,
        { cause: error },
      );
    }
  }
}
