/**
 * The Worker as it is deployed: bundled and minified by wrangler, for tests and benches that run it
 * in miniflare.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface WorkerModule {
  type: 'ESModule' | 'Text';
  path: string;
  contents: string;
}

const PROJECT = join(import.meta.dirname, '../../..');

/**
 * Builds into a folder, ours or the Worker of another configuration; takes two to three seconds.
 */
export async function buildWorker(folder: string, config = 'wrangler.toml'): Promise<void> {
  const wrangler = join(PROJECT, 'node_modules/.bin/wrangler');
  const options = ['--dry-run', '--minify', '--config', config, '--outdir', folder];
  await promisify(execFile)(wrangler, ['deploy', ...options], { cwd: PROJECT });
}

/** What was built, the entry first. */
export async function readModules(folder: string): Promise<WorkerModule[]> {
  const names = (await readdir(folder)).filter(
    (name) => name === 'worker.js' || name.endsWith('.html'),
  );
  const modules = names.map(async (name): Promise<WorkerModule> => {
    const type = name.endsWith('.js') ? 'ESModule' : 'Text';
    return { type, path: join(folder, name), contents: await readFile(join(folder, name), 'utf8') };
  });
  return (await Promise.all(modules)).sort((a, b) => a.type.localeCompare(b.type));
}
