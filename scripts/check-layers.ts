/**
 * Whether the folders of src/ depend on each other one way only (docs/architecture.md#rooms), type
 * imports included, and whether any files import each other in a circle. Part of `npm run lint`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from './lib/process/command-line.ts';
import { PROJECT } from './lib/project.ts';

/**
 * What each room may import besides itself; files that stand in src/ itself are rooms of one file.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  stardust: [],
  'clock.ts': [],
  'log.ts': ['clock.ts'],
  'read-bounded.ts': [],
  'schemas.ts': [],
  'settings.ts': ['stardust'],
  'verify-signature.ts': ['stardust'],
  ledger: ['stardust', 'log.ts', 'verify-signature.ts'],
  'nft-index': ['stardust', 'ledger', 'log.ts'],
  upstream: [
    'stardust',
    'ledger',
    'clock.ts',
    'log.ts',
    'read-bounded.ts',
    'schemas.ts',
    'settings.ts',
    'verify-signature.ts',
  ],
  follower: [
    'stardust',
    'ledger',
    'nft-index',
    'upstream',
    'clock.ts',
    'log.ts',
    'settings.ts',
    'verify-signature.ts',
  ],
  node: [
    'stardust',
    'ledger',
    'nft-index',
    'upstream',
    'follower',
    'log.ts',
    'settings.ts',
    'verify-signature.ts',
  ],
  http: [
    'stardust',
    'node/edge-node.ts',
    'clock.ts',
    'log.ts',
    'read-bounded.ts',
    'schemas.ts',
    'settings.ts',
  ],
  'worker.ts': ['http', 'node', 'follower', 'clock.ts', 'settings.ts'],
};

/** By file, relative to the root: the files of the root that it imports, types included. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

export function readImports(root: string): ImportGraph {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const specifiers = text.matchAll(/(?:from|import\(|^import) ?'(\.[^']+)'/gm);
      const targets = Array.from(specifiers, ([, path]) => normalize(join(dirname(file), path!)));
      return [file, targets.filter((target) => !target.startsWith('..'))];
    }),
  );
}

/** A sentence for each import that goes the wrong way. */
export function findWrongWays(graph: ImportGraph): string[] {
  const faults: string[] = [];
  for (const [file, targets] of graph) {
    const room = roomOf(file);
    const allowed = MAY_IMPORT[room];
    if (allowed === undefined) {
      faults.push(`${file}: scripts/check-layers.ts does not know the room ${room}`);
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

/** A sentence for each circle of imports that is met first. */
export function findCircles(graph: ImportGraph): string[] {
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

const USAGE = `Usage: npx node scripts/check-layers.ts

Checks that the rooms of src/ import each other one way only. A part of npm run lint.`;

if (import.meta.main) {
  await runMain(USAGE, (args) => {
    parseArgs({ args });
    const graph = readImports(join(PROJECT, 'src'));
    const faults = [...findWrongWays(graph), ...findCircles(graph)];
    for (const fault of faults) console.error(fault);
    if (faults.length > 0) return 1;
    console.log(`${graph.size} files import each other one way only`);
    return 0;
  });
}
