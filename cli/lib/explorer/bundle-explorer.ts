/**
 * The static files that the Worker serves: the explorer, bundled for browsers from explorer/, and
 * the OpenAPI description.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PROJECT } from '../project.ts';

/** Where wrangler.toml has the static files. */
export const STATIC_FILES = join(PROJECT, 'dist', 'explorer');

const SOURCES = join(PROJECT, 'explorer');
const OPENAPI = join(PROJECT, 'src', 'http', 'openapi', 'openapi.json');

/** By path below the folder of static files: what is served as it is. */
const COPIED: Record<string, string> = {
  'index.html': join(SOURCES, 'index.html'),
  'explorer/icon.svg': join(SOURCES, 'icon.svg'),
  'explorer/card.jpg': join(SOURCES, 'card.jpg'),
};

/** By path below the folder of static files: what is bundled from which module. */
const BUNDLED: Record<string, string> = {
  'explorer/app': 'app.tsx',
  'explorer/style': 'style.css',
  'explorer/layout': 'cone/layout-worker.ts',
  verifier: 'verify/verifier.ts',
};

/** Contents by path; the same on every machine, as esbuild and the libraries have exact versions. */
export async function bundleExplorer(): Promise<Map<string, Uint8Array>> {
  // what serves a Worker that is built already does without esbuild
  const { build, stop } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: SOURCES,
    entryPoints: Object.entries(BUNDLED).map(([out, path]) => ({ in: join(SOURCES, path), out })),
    outdir: STATIC_FILES,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    chunkNames: 'explorer/chunk-[hash]',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // noble's licence asks that its notice stays
    legalComments: 'eof',
    write: false,
  });
  // else its process stays for as long as this one
  await stop();
  const bundled = outputFiles.map(
    ({ path, contents }) => [path.slice(STATIC_FILES.length + 1), contents] as const,
  );
  const copied = Object.entries(COPIED).map(
    ([path, source]) => [path, new Uint8Array(readFileSync(source))] as const,
  );
  const openapi = JSON.stringify(JSON.parse(readFileSync(OPENAPI, 'utf8')));
  return new Map([
    ...bundled,
    ...copied,
    ['openapi.json', new TextEncoder().encode(openapi)] as const,
  ]);
}

/**
 * Writes the static files, and removes what else is in the folder. Others may do the same at the
 * same time, so each file is replaced as a whole.
 */
export async function writeExplorer(folder = STATIC_FILES): Promise<void> {
  const files = await bundleExplorer();
  for (const [path, contents] of files) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    const unfinished = `${folder}-${process.pid}-${path.replaceAll('/', '-')}`;
    writeFileSync(unfinished, contents);
    renameSync(unfinished, target);
  }
  removeOthers(folder, new Set(files.keys()));
}

function removeOthers(folder: string, kept: ReadonlySet<string>): void {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  for (const path of found) if (!kept.has(path)) rmSync(join(folder, path), { force: true });
}
