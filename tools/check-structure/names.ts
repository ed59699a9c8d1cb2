/**
 * Whether a name that is exported is found by one grep, and whether folders stay small enough to be
 * looked through.
 */
import { dirname } from 'node:path';

/** By path: the text of a file. */
export type Sources = ReadonlyMap<string, string>;

/** "About fifteen" files beside each other (CONTRIBUTING.md#how-to-write). */
const MAX_FILES = 16;

/** Its names are those of the schemas in the OpenAPI description. */
const OTHER_NAMES = 'tools/openapi/responses.ts';

const EXPORTED =
  /^export (?:async |abstract )*(?:function\*?|class|interface|type|const|let|enum) (\w+)/gm;

/** A sentence for each name that two files export. */
export function findSameNames(sources: Sources): string[] {
  const files = new Map<string, Set<string>>();
  for (const [file, text] of sources) {
    if (file === OTHER_NAMES) continue;
    for (const [, name] of text.matchAll(EXPORTED))
      files.set(name!, (files.get(name!) ?? new Set()).add(file));
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
