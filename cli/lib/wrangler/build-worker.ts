/**
 * The Worker as it is deployed: bundled and minified by wrangler, for `npm run serve` and for tests
 * and benches that run it in miniflare.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from '../project.ts';
import { runWrangler, WITHIN_PROJECT } from './run-wrangler.ts';
import { readWranglerConfig } from './wrangler-config.ts';

export interface WorkerModule {
  type: 'ESModule';
  path: string;
  contents: string;
}

/** Folders from which the Worker and the explorer are bundled. */
const SOURCES = ['src', 'explorer', 'client'];

/** Where {@link builtWorker} builds. */
const BUILDS = join(PROJECT, 'dist', 'serve');

/** Bundles the explorer, in a process of its own: the bundler leaves much memory to its process. */
const BUNDLE_EXPLORER = join(PROJECT, 'tools', 'bundle-explorer.ts');

/** Builds the Worker and its static files into a folder; takes two to three seconds. */
export async function buildWorker(folder: string): Promise<void> {
  await bundleWorker(folder, 'wrangler.toml');
  const args = ['--no-warnings', BUNDLE_EXPLORER, staticFilesOf(folder)];
  await promisify(execFile)(process.execPath, args);
}

/** Builds the core alone, without modules, into a folder. It has no static files. */
export async function buildCore(folder: string): Promise<void> {
  mkdirSync(staticFilesOf(folder), { recursive: true });
  const { workerName, compatibilityDate, compatibilityFlags } = readWranglerConfig();
  const config = {
    name: workerName,
    main: join(PROJECT, 'src', 'core-worker.ts'),
    compatibility_date: compatibilityDate,
    compatibility_flags: compatibilityFlags,
    keep_names: false,
  };
  const path = join(folder, 'wrangler.json');
  writeFileSync(path, JSON.stringify(config));
  await bundleWorker(folder, path);
  renameSync(join(folder, 'core-worker.js'), scriptOf(folder));
}

/** Bundles the script of a Worker into a folder, of ours or of another configuration. */
export async function bundleWorker(folder: string, config: string): Promise<void> {
  const path = resolve(PROJECT, config);
  const args = ['deploy', '--dry-run', '--minify', '--config', path, '--outdir', folder];
  await runWrangler(args, WITHIN_PROJECT);
}

/** What was built. */
export function readModules(folder: string): WorkerModule[] {
  const path = scriptOf(folder);
  return [{ type: 'ESModule', path, contents: readFileSync(path, 'utf8') }];
}

/**
 * The folder with the Worker that these sources make: built if there is none yet. Where there are
 * no sources it is the one that was built for this folder (tools/build/runtime.ts). Throws an
 * Error with a sentence where it cannot be written.
 */
export async function builtWorker(): Promise<string> {
  if (!existsSync(join(PROJECT, 'src', 'worker.ts'))) return join(BUILDS, names(BUILDS)[0]!);
  const digest = digestOfSources();
  const folder = join(BUILDS, digest);
  if (names(BUILDS).includes(digest)) return folder;
  const unfinished = `${folder}-${process.pid}`;
  try {
    mkdirSync(unfinished, { recursive: true });
  } catch (error) {
    const sentence = `${BUILDS} cannot be written: run npm run build as a user who may write there`;
    throw new Error(sentence, { cause: error });
  }
  try {
    await buildWorker(unfinished);
    // of two builds at once the first one is kept
    if (!names(BUILDS).includes(digest)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  for (const name of names(BUILDS))
    if (name !== digest && !isBeingBuilt(name, digest))
      rmSync(join(BUILDS, name), { recursive: true, force: true });
  return folder;
}

/** Whether another process, which was not ended meanwhile, builds these sources there. */
function isBeingBuilt(name: string, digest: string): boolean {
  if (!name.startsWith(digest)) return false;
  try {
    return process.kill(Number(name.slice(digest.length + 1)), 0);
  } catch (error) {
    // another user's
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The script that {@link buildWorker} or {@link buildCore} made. */
export function scriptOf(folder: string): string {
  return join(folder, 'worker.js');
}

/** The static files beside a Worker that {@link buildWorker} built. */
export function staticFilesOf(folder: string): string {
  return join(folder, 'static');
}

/** SHA-256 of everything that goes into the bundles, 0x-less hex. */
function digestOfSources(): string {
  const sources = SOURCES.flatMap((folder) =>
    readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.\w+$/.test(name))
      .map((name) => join(folder, name)),
  );
  const hash = createHash('sha256');
  for (const name of [...sources, 'package.json', 'package-lock.json'].sort())
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(PROJECT, name)))
      .update('\0');
  return hash.digest('hex');
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
