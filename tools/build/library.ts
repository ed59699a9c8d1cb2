/**
 * The package of the protocol (src/stardust/README.md): JavaScript and types of src/stardust, ready
 * for `npm pack`; and how large each of its subpaths is in a bundle.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { PROJECT } from '../../cli/lib/project.ts';
import { findProgram } from '../../cli/lib/runtime.js';

const SOURCES = join(PROJECT, 'src/stardust');

/** What the sources import. The versions are those of the project, and exact. */
const DEPENDENCIES = ['@noble/ed25519', '@noble/hashes', '@scure/base'];

interface PackageFile {
  exports: Record<string, string>;
}

const readPackage = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** @param folder that exists and is empty */
export function makeLibrary(folder: string): void {
  const flags = ['--noEmit', 'false', '--declaration', '--rewriteRelativeImportExtensions'];
  execFileSync(
    process.execPath,
    [findProgram('typescript', 'tsc')!, '-p', SOURCES, ...flags, '--outDir', folder],
    { stdio: 'inherit' },
  );
  rewriteDeclarations(folder);
  for (const name of ['README.md', 'CHANGELOG.md']) cpSync(join(SOURCES, name), join(folder, name));
  copyDocuments(folder);
  cpSync(join(PROJECT, 'LICENSE'), join(folder, 'LICENSE'));
  const { version, dependencies } = readPackage(PROJECT);
  // where it is published from: npm compares it with the provenance of a package
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  const url = `git+${server}/${repository}.git`;
  // the sources are TypeScript: npm is to refuse them
  const { private: _, ...published } = readPackage(SOURCES);
  const own = {
    ...published,
    version,
    publishConfig: { access: 'public' },
    ...(server && repository && { repository: { type: 'git', url, directory: 'src/stardust' } }),
    dependencies: Object.fromEntries(DEPENDENCIES.map((name) => [name, dependencies[name]])),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(own, undefined, 2)}\n`);
}

/** What the README, types and errors name: an outsider has no other. */
function copyDocuments(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const texts = names
    .filter((each) => /\.(?:js|ts|md)$/.test(each))
    .map((each) => readFileSync(join(folder, each), 'utf8'));
  for (const document of new Set(texts.join('\n').match(/docs\/[\w-]+\.md/g)))
    cpSync(join(PROJECT, document), join(folder, document));
}

/** The compiler rewrites the paths of imports in JavaScript only. */
function rewriteDeclarations(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((each) => each.endsWith('.d.ts'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    writeFileSync(
      join(folder, name),
      text.replaceAll(/((?:from |import\()(['"])\.[^'"]*)\.ts\2/g, '$1.js$2'),
    );
  }
}

export interface SubpathSize {
  /** As in an import: `@stardust-edge/protocol/proof`. */
  subpath: string;
  /** Bytes of everything that it exports, bundled for browsers and minified. */
  minified: number;
  gzipped: number;
}

/** @param folder made by {@link makeLibrary} */
export async function measureLibrary(folder: string): Promise<SubpathSize[]> {
  const { build, stop } = await import('esbuild');
  const { name, exports } = readPackage(folder) as PackageFile & { name: string };
  const modules = Object.entries(exports).filter(([, path]) => path.endsWith('.js'));
  const sizes = await Promise.all(
    modules.map(async ([subpath, path]): Promise<SubpathSize> => {
      const { outputFiles } = await build({
        entryPoints: [join(folder, path)],
        nodePaths: [join(PROJECT, 'node_modules')],
        bundle: true,
        minify: true,
        format: 'esm',
        platform: 'browser',
        target: 'es2022',
        legalComments: 'none',
        write: false,
      });
      const { contents } = outputFiles[0]!;
      return {
        subpath: `${name}${subpath.slice(1)}`,
        minified: contents.length,
        gzipped: gzipSync(contents, { level: 9 }).length,
      };
    }),
  );
  await stop();
  return sizes;
}
