/**
 * How large the core and each module are: files and lines of their sources, which is what a
 * maintainer reads, and the minified script.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../cli/lib/project.ts';
import { scriptOf } from '../../cli/lib/wrangler/build-worker.ts';
import { readImports } from '../check-structure/imports.ts';

const SRC = join(PROJECT, 'src');

interface Size {
  files: number;
  lines: number;
}

/** Of all that the entry imports, directly or not, types included. */
export function measureClosure(entry: string): Size {
  const graph = readImports(SRC);
  const closure = new Set<string>([entry]);
  for (const file of closure) for (const target of graph.get(file) ?? []) closure.add(target);
  return measure([...closure].filter((file) => file.endsWith('.ts')));
}

/** By name: the files of each module. */
export function measureModules(): ReadonlyMap<string, Size> {
  const files = [...readImports(SRC).keys()];
  const names = readdirSync(join(SRC, 'modules'), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => name)
    .sort();
  return new Map(
    names.map((name) => [
      name,
      measure(files.filter((file) => file.startsWith(`modules/${name}/`))),
    ]),
  );
}

/** Lines to print, of built Workers in these folders. */
export function describeSizes(core: string, whole: string): string[] {
  const ofSources = ({ files, lines }: Size) => `${files} files, ${lines} lines`;
  const kilobytes = (folder: string) => `${Math.round(statSync(scriptOf(folder)).size / 1000)} KB`;
  return [
    `core: ${ofSources(measureClosure('core-worker.ts'))}, ${kilobytes(core)}`,
    ...Array.from(measureModules(), ([name, size]) => `${name}: ${ofSources(size)}`),
    `all: ${ofSources(measureClosure('worker.ts'))}, ${kilobytes(whole)}`,
  ];
}

function measure(files: readonly string[]): Size {
  const lines = files.map((file) => readFileSync(join(SRC, file), 'utf8').split('\n').length - 1);
  return { files: files.length, lines: lines.reduce((sum, each) => sum + each, 0) };
}
