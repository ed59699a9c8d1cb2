/**
 * Whether the folders of src/ depend on each other one way only (docs/architecture.md#rooms), type
 * imports included, and whether any files or folders import each other in a circle.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/**
 * What each room may import besides itself; each file that is in src/ itself is a room of its own.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  stardust: [],
  platform: ['stardust'],
  'settings.ts': ['stardust', 'platform', 'ledger/open-ledger.ts'],
  ledger: ['stardust', 'platform'],
  'nft-index': ['stardust', 'platform', 'ledger'],
  mqtt: ['stardust'],
  upstream: ['stardust', 'platform', 'settings.ts', 'ledger'],
  follower: ['stardust', 'platform', 'settings.ts', 'ledger', 'nft-index', 'upstream'],
  node: ['stardust', 'platform', 'settings.ts', 'ledger', 'nft-index', 'upstream', 'follower'],
  http: ['stardust', 'platform', 'settings.ts', 'ledger', 'node', 'follower'],
  modules: [
    ...['stardust', 'platform', 'settings.ts', 'ledger', 'mqtt', 'upstream', 'follower', 'node'],
    'http',
  ],
  'core-worker.ts': ['follower', 'http'],
  'worker.ts': ['follower', 'http', 'modules'],
};

/** By file, relative to the root: the files of the root that it imports, types included. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

export function readImports(root: string): ImportGraph {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return graphOf(new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')])));
}

/** @param sources texts by their path from the root */
export function graphOf(sources: ReadonlyMap<string, string>): ImportGraph {
  return new Map(
    Array.from(sources, ([file, text]) => [
      file,
      importsOf(file, text).filter((target) => !target.startsWith('..')),
    ]),
  );
}

function importsOf(file: string, text: string): string[] {
  const specifiers = text.matchAll(/(?:from|import\(|^import) ?'(\.[^']+)'/gm);
  return Array.from(specifiers, ([, path]) => normalize(join(dirname(file), path!)));
}

/** A sentence for each import that goes the wrong way. */
export function findWrongWays(graph: ImportGraph): string[] {
  const faults: string[] = [];
  for (const [file, targets] of graph) {
    const room = roomOf(file);
    const allowed = MAY_IMPORT[room];
    if (allowed === undefined) {
      faults.push(`${file}: tools/check-structure/imports.ts does not know the room ${room}`);
      continue;
    }
    for (const target of targets) {
      const other = roomOf(target);
      if (other !== room && !allowed.includes(other) && !allowed.includes(target))
        faults.push(`${file}: ${room} must not import ${target}`);
    }
  }
  return faults;
}

/**
 * A sentence for each import of another module that is not declared (src/modules/README.md).
 *
 * @param graph of the project
 * @param sources texts by path in the project
 */
export function findUndeclaredNeeds(
  graph: ImportGraph,
  sources: ReadonlyMap<string, string>,
): string[] {
  const needsOf = (module: string): readonly string[] => {
    const text = sources.get(`src/modules/${module}/module.ts`) ?? '';
    return /\bneeds: \[([^\]]*)\]/.exec(text)?.[1]?.match(/\w+/g) ?? [];
  };
  return [...graph].flatMap(([file, targets]) => {
    const module = moduleOf(file);
    if (module === undefined) return [];
    const others = targets.map(moduleOf).filter((each) => each !== undefined && each !== module);
    return others
      .filter((other) => !needsOf(module).includes(other!))
      .map((other) => `${file}: the module ${module} does not say that it needs ${other}`);
  });
}

const moduleOf = (file: string) => /^src\/modules\/(\w+)\//.exec(file)?.[1];

/** Tests of the core, which must pass where a module is taken away (test/slow/modules.ts). */
const CORE_TEST = /^test\/(?:follower|http|ledger|mqtt|nft-index|node|platform|upstream)\//;

/** A sentence for each test of the core that imports a module. */
export function findModulesInCoreTests(graph: ImportGraph): string[] {
  return [...graph].flatMap(([file, targets]) =>
    targets
      .filter((target) => CORE_TEST.test(file) && moduleOf(target) !== undefined)
      .map((target) => `${file}: a test of the core must not import ${target}`),
  );
}

/**
 * These use the protocol by the entries of its package only, as others do. What the page loads does
 * not: where a bundle is split, all modules that an entry exports from come with each script that
 * imports the entry, if anybody uses them. With entries 7 KB more are loaded at first.
 */
const BY_ENTRIES = /^(?:cli|client)\/(?!words\/)/;

/**
 * A sentence for each import from src/stardust/ that goes past the entries of its package.
 *
 * @param sources texts by path in the project
 * @param exported of src/stardust/package.json
 */
export function findPastEntries(
  sources: ReadonlyMap<string, string>,
  exported: Readonly<Record<string, string>>,
): string[] {
  const entries = new Set(
    Object.values(exported).map((path) => join('src/stardust', path.replace(/\.js$/, '.ts'))),
  );
  return [...sources]
    .filter(([file]) => BY_ENTRIES.test(file))
    .flatMap(([file, text]) =>
      importsOf(file, text)
        .filter((target) => target.startsWith('src/stardust/') && !entries.has(target))
        .map((target) => `${file}: ${target} is not exported by src/stardust/package.json`),
    );
}

/** A sentence for each circle of imports that is found first: of files, or of folders. */
export function findCircles(files: ImportGraph): string[] {
  return [...circlesOf(files), ...circlesOf(folderGraph(files))];
}

/** By folder: the folders that its files import, other than those around it and within it. */
function folderGraph(files: ImportGraph): ImportGraph {
  const graph = new Map<string, string[]>();
  for (const [file, targets] of files) {
    const folder = dirname(file);
    const others = targets.map(dirname).filter((other) => !isWithin(folder, other));
    const separate = others.filter((other) => !isWithin(other, folder));
    graph.set(folder, [...(graph.get(folder) ?? []), ...separate]);
  }
  return graph;
}

/** @param outer `.` is around all */
function isWithin(inner: string, outer: string): boolean {
  return outer === '.' || `${inner}/`.startsWith(`${outer}/`);
}

function circlesOf(graph: ImportGraph): string[] {
  const faults: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      faults.push(`a circle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`);
      return;
    }
    if (done.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return faults;
}

function roomOf(file: string): string {
  return file.split('/')[0]!;
}
