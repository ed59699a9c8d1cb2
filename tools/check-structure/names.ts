/**
 * Whether a name that is exported is found by one grep, and whether folders stay small enough to be
 * looked through.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** By path: the text of a file. */
export type Sources = ReadonlyMap<string, string>;

const ROOTS = ['src', 'cli', 'tools', 'client', 'explorer', 'bench'];

/** All of TypeScript outside of test/, or in these folders. */
export function readSources(project: string, roots: readonly string[] = ROOTS): Sources {
  const files = roots.flatMap((root) =>
    readdirSync(join(project, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(root, name)),
  );
  return new Map(files.map((file) => [file, readFileSync(join(project, file), 'utf8')]));
}

/** "About fifteen" files beside each other (CONTRIBUTING.md#how-to-write). */
const MAX_FILES = 16;

/** Workers that a benchmark runs in place of the project's: their classes have its classes' names. */
const OTHER_NAMES = /^bench\/\w+\/worker\.ts$/;

/** Words of the page that are as short as they are common: parts of a view, and an output as JSON. */
const WORDS_OF_PAGE: ReadonlySet<string> = new Set(['Head', 'Id', 'Output', 'output']);

const EXPORTED =
  /^export (?:async |abstract )*(?:function\*?|class|interface|type|const|let|enum) (\w+)/gm;

/** A sentence for each name that two files export. */
export function findSameNames(sources: Sources): string[] {
  const files = new Map<string, Set<string>>();
  for (const [file, text] of sources) {
    if (OTHER_NAMES.test(file)) continue;
    for (const [, name] of text.matchAll(EXPORTED)) {
      if (file.startsWith('explorer/') && WORDS_OF_PAGE.has(name!)) continue;
      files.set(name!, (files.get(name!) ?? new Set()).add(file));
    }
  }
  return [...files]
    .filter(([, those]) => those.size > 1)
    .map(([name, those]) => `${name} is exported by ${[...those].join(' and ')}`);
}

/** A sentence for each folder with too many files beside each other. */
export function findLargeFolders(sources: Sources): string[] {
  const folders = Map.groupBy(sources.keys(), dirname);
  return [...folders]
    .filter(([, files]) => files.length > MAX_FILES)
    .map(([folder, { length }]) => `${folder} has ${length} files, more than ${MAX_FILES}`);
}
