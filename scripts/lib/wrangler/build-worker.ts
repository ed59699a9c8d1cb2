/**
 * The Worker as it is deployed: bundled and minified by wrangler, for `npm run serve` and for tests
 * and benches that run it in miniflare.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../project.ts';
import { runWrangler } from './run-wrangler.ts';

export interface WorkerModule {
  type: 'ESModule' | 'Text';
  path: string;
  contents: string;
}

/** Where {@link builtWorker} builds. */
const BUILDS = join(PROJECT, 'dist', 'serve');

/**
 * Builds into a folder, ours or the Worker of another configuration; takes two to three seconds.
 */
export async function buildWorker(folder: string, config = 'wrangler.toml'): Promise<void> {
  await runWrangler([
    'deploy',
    '--dry-run',
    '--minify',
    '--config',
    join(PROJECT, config),
    '--outdir',
    folder,
  ]);
}

/** What was built, the entry first. */
export function readModules(folder: string): WorkerModule[] {
  const names = readdirSync(folder).filter(
    (name) => name === 'worker.js' || name.endsWith('.html'),
  );
  const modules = names.map((name): WorkerModule => {
    const type = name.endsWith('.js') ? 'ESModule' : 'Text';
    const path = join(folder, name);
    return { type, path, contents: readFileSync(path, 'utf8') };
  });
  return modules.sort((a, b) => a.type.localeCompare(b.type));
}

/**
 * The folder with the Worker that these sources make: built if there is none yet. Where there are
 * no sources it is the one that was built for this folder (scripts/build/runtime.ts). Throws an
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
    throw new Error(
      `${BUILDS} cannot be written: run npm run build as a user who may write there`,
      {
        cause: error,
      },
    );
  }
  await buildWorker(unfinished);
  // of two builds at once the first one is kept
  if (names(BUILDS).includes(digest)) rmSync(unfinished, { recursive: true });
  else renameSync(unfinished, folder);
  for (const name of names(BUILDS))
    if (!name.startsWith(digest)) rmSync(join(BUILDS, name), { recursive: true, force: true });
  return folder;
}

/** SHA-256 of all sources of the bundle, in hex without 0x. */
function digestOfSources(): string {
  const sources = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|json|html)$/.test(name))
    .map((name) => join('src', name));
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
