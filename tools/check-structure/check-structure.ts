/**
 * Checks which folders import each other, exported names and sizes of folders. Part of `npm run
 * lint`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../../cli/lib/process/command-line.ts';
import { PROJECT } from '../../cli/lib/project.ts';
import { findWithoutSubject } from './docstrings.ts';
import {
  findCircles,
  findPastEntries,
  findUndeclaredNeeds,
  findWrongWays,
  readImports,
} from './imports.ts';
import { findLargeFolders, findSameNames, type Sources } from './names.ts';

const USAGE = `Usage: node tools/run.js tools/check-structure/check-structure.ts

Checks that the folders of src/ import each other one way only, that modules need no others than
they say, that cli/ and client/ use
src/stardust by the entries of its package, that no two files of src/, cli/, tools/ and client/
export the same name, that no docstring of src/ begins with a pronoun or a preposition, and that no
folder is too large. A part of npm run lint.`;

function readSources(): Sources {
  const files = ['src', 'cli', 'tools', 'client'].flatMap((root) =>
    readdirSync(join(PROJECT, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(root, name)),
  );
  return new Map(files.map((file) => [file, readFileSync(join(PROJECT, file), 'utf8')]));
}

await runMain(USAGE, (args) => {
  parseArgs({ args });
  const graph = readImports(join(PROJECT, 'src'));
  const sources = readSources();
  const { exports } = JSON.parse(readFileSync(join(PROJECT, 'src/stardust/package.json'), 'utf8'));
  const faults = [
    ...findWrongWays(graph),
    ...findCircles(graph),
    ...findUndeclaredNeeds(graph, sources),
    ...findPastEntries(sources, exports),
    ...findSameNames(sources),
    ...findWithoutSubject(new Map([...sources].filter(([file]) => file.startsWith('src/')))),
    ...findLargeFolders(sources),
  ];
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) return 1;
  console.log(`${sources.size} files: imports one way only, names exported once`);
  return 0;
});
