/**
 * Imports a snapshot into the deployed database. It is loaded into a database on this machine
 * first, and verified: only a whole and valid ledger is uploaded.
 *
 * An import that was interrupted, while loading or while uploading, resumes when it is called again
 * with the same files.
 */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Database } from '../../../src/ledger/core/database.ts';
import { readHead, SCHEMA } from '../../../src/ledger/core/head.ts';
import {
  HAS_PROGRESS,
  readStagingScript,
  SELECT_PROGRESS,
} from '../../../src/ledger/import/staging-tables.ts';
import { PROJECT } from '../project.ts';
import { holdAlone } from '../wrangler/hold-folder.ts';
import { openLocalDatabase } from '../wrangler/local-database.ts';
import { queryRemotely, type RunWrangler, runWrangler } from '../wrangler/run-wrangler.ts';
import type { WranglerConfig } from '../wrangler/wrangler-config.ts';
import {
  checkReplacement,
  SELECT_SERVED,
  type ServedLedger,
  servedFromRows,
} from './check-replacement.ts';
import { type ImportRequest, importSnapshot, reportHeld } from './import-snapshot.ts';
import { ProgressBar } from './progress-bar.ts';
import {
  MAX_FILE,
  NOTHING_UPLOADED,
  type UploadProgress,
  type UploadSource,
  type UploadTarget,
  upload,
} from './upload.ts';

/** The folder of the database on this machine, of the files to upload and of the note. */
const FOLDER = join(PROJECT, '.wrangler', 'import');

const REPLACED_BEFORE =
  'An interrupted call had replaced the ledger already: nothing was uploaded. ' +
  'The same command imports the files once more.';

/** The note in the folder: how far the import has come. */
interface Noted {
  /**
   * The deployed database, the files that the ledger in the folder's database was loaded from, and
   * how its tables were defined, and read: what was uploaded for others is of no use.
   */
  files: string;
  /** Of the ledger in the folder's database. */
  generation: string;
  progress: UploadProgress;
}

export async function importRemotely(
  request: ImportRequest,
  config: WranglerConfig,
  run: RunWrangler = runWrangler,
  folder: string = FOLDER,
  maxFile: number = MAX_FILE,
): Promise<void> {
  const alone = holdAlone(folder, 'import');
  const db = await openLocalDatabase(folder, config);
  try {
    const noted = await load(db, request, folder, config.databaseName);
    const held = await reportHeld(db).catch((error: unknown) => {
      // it may be damaged: the next call loads the files again
      rmSync(notePath(folder), { force: true });
      throw error;
    });
    await run(['d1', 'migrations', 'apply', config.databaseName, '--remote']);
    const { generation } = (await readHead(db))!;
    const deployed = await readDeployed(run, config.databaseName);
    // the last file would be refused (upload.ts)
    if (deployed.migrations > (await readStagingScript(db)).migrations)
      throw new Error(`${config.databaseName} is of a newer release: import with that one`);
    // the last file was executed before, and the folder was left
    if (deployed.generation === generation) console.log(REPLACED_BEFORE);
    else {
      const isAgreed = await checkReplacement(deployed.served, held, request.mayReplace);
      const source = {
        db,
        generation,
        outputs: held.outputs,
        nfts: held.nfts,
        // the served ledger moves on during the upload
        ...(!isAgreed && { newest: held.ledger }),
      };
      const target = { run, databaseName: config.databaseName, folder, maxFile };
      // a file may have been executed and not noted; the database may have been set back since
      const { files } = noted.progress;
      const isBegun =
        deployed.staged === generation && [files, files + 1].includes(deployed.stagedFiles);
      await uploadNoting(
        source,
        target,
        isBegun ? noted : { ...noted, progress: NOTHING_UPLOADED },
      );
    }
  } finally {
    db.close();
    alone.close();
  }
  rmSync(folder, { recursive: true });
}

/** Loads the files unless they were loaded before. */
async function load(
  db: Database,
  request: ImportRequest,
  folder: string,
  databaseName: string,
): Promise<Noted> {
  const described = [request.full, request.delta].flatMap((path) =>
    path === undefined ? [] : [describeFile(path)],
  );
  const { create } = await readStagingScript(db);
  const { keys, network, sha256 } = request;
  // what was loaded without one of these checks is loaded again
  const checks = JSON.stringify([keys, network, sha256]);
  const files = [SCHEMA, databaseName, ...described, checks, ...create].join();
  const noted = readNoted(folder);
  // a power failure, or a folder removed in part, may leave the note alone
  const held = await readHead(db).catch(() => undefined);
  if (noted?.files === files && noted.generation === held?.generation) return noted;
  rmSync(notePath(folder), { force: true });
  const { generation } = await importSnapshot(db, request);
  const fresh = { files, generation, progress: NOTHING_UPLOADED };
  note(folder, fresh);
  return fresh;
}

function describeFile(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return JSON.stringify([resolve(path), stats?.size, stats?.mtimeMs]);
}

function notePath(folder: string): string {
  return join(folder, 'upload.json');
}

/** Undefined also where a power failure has cut the note: the import begins again. */
function readNoted(folder: string): Noted | undefined {
  try {
    return JSON.parse(readFileSync(notePath(folder), 'utf8')) as Noted;
  } catch {
    return undefined;
  }
}

/** Replaces the note in one step: a reader finds the new one or the one before. */
function note(folder: string, noted: Noted): void {
  const path = notePath(folder);
  writeFileSync(`${path}.new`, JSON.stringify(noted));
  renameSync(`${path}.new`, path);
}

/** What the deployed database holds. */
interface Deployed {
  served: ServedLedger | undefined;
  generation: string | undefined;
  /** How many were applied to it. */
  migrations: number;
  /** Generation of the ledger in its staging tables. */
  staged: string | undefined;
  /** Files that were executed for it. */
  stagedFiles: number;
}

const COUNT_MIGRATIONS = 'SELECT count(*) AS count FROM d1_migrations';

async function readDeployed(run: RunWrangler, databaseName: string): Promise<Deployed> {
  const query = (sql: string) => queryRemotely(run, databaseName, sql);
  const [heads, migrations, tables, ...served] = await query(
    ['SELECT generation FROM head', COUNT_MIGRATIONS, HAS_PROGRESS, ...SELECT_SERVED].join('; '),
  );
  const staged = tables?.length === 0 ? [] : (await query(SELECT_PROGRESS))[0];
  return {
    served: servedFromRows(served),
    generation: textOf(heads?.[0]?.generation),
    migrations: Number(migrations?.[0]?.count),
    staged: textOf(staged?.[0]?.identity),
    stagedFiles: Number(staged?.[0]?.position ?? 0),
  };
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value);
}

async function uploadNoting(
  source: UploadSource,
  target: UploadTarget,
  noted: Noted,
): Promise<void> {
  const bar = new ProgressBar('rows');
  try {
    await upload(source, target, noted.progress, (next) => {
      note(target.folder, { ...noted, progress: next });
      bar.show('Uploading', next.outputs, source.outputs);
    });
  } finally {
    bar.clear();
  }
}
