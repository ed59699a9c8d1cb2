/**
 * The static files that the Worker serves: the explorer, bundled for browsers from explorer/ into few
 * scripts, and the OpenAPI description.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { PROJECT } from '../project.ts';

/** Where wrangler.toml has the static files. */
export const STATIC_FILES = join(PROJECT, 'dist', 'explorer');

const SOURCES = join(PROJECT, 'explorer');
const OPENAPI = join(PROJECT, 'src', 'http', 'openapi', 'openapi.json');

/** By path below the folder of static files: what is served as it is. */
const COPIED: Record<string, string> = {
  'index.html': join(SOURCES, 'index.html'),
  'robots.txt': join(SOURCES, 'robots.txt'),
  'favicon.ico': join(SOURCES, 'favicon.ico'),
  'explorer/style.css': join(SOURCES, 'style.css'),
  'explorer/icon.svg': join(SOURCES, 'icon.svg'),
  'explorer/card.jpg': join(SOURCES, 'card.jpg'),
};

/** By name of the script: what is bundled, each by itself. */
const ENTRIES = { app: 'app.tsx', layout: 'cone/layout-worker.ts' };

/** A module that this many scripts need is in the one script that all of them load. */
const SHARED_BY = 3;

/** Contents by path; the same on every machine, as rolldown and the libraries have exact versions. */
export async function bundleExplorer(): Promise<Map<string, Uint8Array>> {
  const modules = new Set<string>();
  const scripts = await Promise.all(Object.entries(ENTRIES).map((entry) => bundle(entry, modules)));
  const copied = Object.entries(COPIED).map(
    ([path, source]) => [path, new Uint8Array(readFileSync(source))] as const,
  );
  const made = {
    'openapi.json': JSON.stringify(JSON.parse(readFileSync(OPENAPI, 'utf8'))),
    'explorer/licences.txt': licencesOf(modules),
  };
  const encoded = Object.entries(made).map(
    ([path, text]) => [path, new TextEncoder().encode(text)] as const,
  );
  return new Map([...scripts.flat(), ...copied, ...encoded]);
}

const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/**
 * The licences of the packages that modules are of: each asks that it goes with every copy. Throws an
 * Error where a package has none.
 */
function licencesOf(modules: ReadonlySet<string>): string {
  const found = [...modules].map((id) => PACKAGE_FOLDER.exec(id.replaceAll(sep, '/'))?.[0]);
  const folders = new Set(found.filter((folder) => folder !== undefined));
  const texts = [...folders].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const [file] = readdirSync(folder)
      .filter((each) => /^licen[cs]e/i.test(each))
      .sort();
    if (file === undefined) throw new Error(`the package ${name} has no licence`);
    return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return texts.join('\n\n');
}

/** A script and those that it loads later. @param modules to which theirs are added, by their paths */
async function bundle([name, path]: readonly [string, string], modules: Set<string>) {
  // what serves a Worker that is built already does without rolldown
  const { build } = await import('rolldown');
  const { output } = await build({
    cwd: SOURCES,
    input: { [name]: join(SOURCES, path) },
    platform: 'browser',
    tsconfig: false,
    transform: { target: 'es2022', jsx: { runtime: 'automatic', importSource: 'preact' } },
    write: false,
    output: {
      format: 'esm',
      minify: true,
      // the notices of licences stay
      comments: { legal: true, annotation: false, jsdoc: false },
      entryFileNames: 'explorer/[name].js',
      chunkFileNames: 'explorer/[name]-[hash].js',
      codeSplitting: {
        groups: [
          { name: 'shared', minShareCount: SHARED_BY },
          // small ones, which the pages of blocks and transactions need at once
          { name: 'judges', test: /explorer.(?:verify|parts)./, minShareCount: 2 },
        ],
      },
    },
  });
  for (const file of output)
    if (file.type === 'chunk') for (const id of file.moduleIds) modules.add(id);
  return output.map((file) => {
    const content = file.type === 'chunk' ? file.code : file.source;
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    return [file.fileName, bytes] as const;
  });
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
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
  for (const path of found) if (!kept.has(path)) rmSync(join(folder, path), { force: true });
}
