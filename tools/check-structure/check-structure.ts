/**
 * Checks which folders import each other, exported names and sizes of folders. Part of `npm run
 * lint`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../../cli/lib/process/command-line.ts';
import { PROJECT } from '../../cli/lib/project.ts';
import { findWithoutSubject } from './docstrings.ts';
import {
  findCircles,
  findModulesInCoreTests,
  findPastEntries,
  findUndeclaredNeeds,
  findWrongWays,
  graphOf,
  readImports,
} from './imports.ts';
import { findLargeFolders, findSameNames, readSources } from './names.ts';
import { findOutsidePacks } from './packs.ts';
import { countArrows, describeRooms, findTooMany, readRooms } from './rooms.ts';

const USAGE = `Usage: node tools/run.js tools/check-structure/check-structure.ts

Checks that the folders of src/ import each other one way only, that modules need no others than
they say and no test of the core any, that no files and no folders of the
project import each other in a circle, that cli/ and client/ use src/stardust by the entries of its
package, that only src/ledger/packs/ knows what a pack is made of, that no two files outside of test/
export the same name, that no docstring of src/ begins with a pronoun or a preposition, and that no
folder is too large. A part of npm run lint.

  --rooms   prints which rooms import which`;

await runMain(USAGE, (args) => {
  const { values } = parseArgs({ args, options: { rooms: { type: 'boolean' } } });
  const sources = readSources(PROJECT);
  const graph = graphOf(sources);
  const rooms = readRooms(graph);
  const { exports } = JSON.parse(readFileSync(join(PROJECT, 'src/stardust/package.json'), 'utf8'));
  const faults = [
    ...findWrongWays(readImports(join(PROJECT, 'src'))),
    ...findCircles(graph),
    ...findTooMany(rooms),
    ...findOutsidePacks(sources),
    ...findUndeclaredNeeds(graph, sources),
    ...findModulesInCoreTests(graphOf(readSources(PROJECT, ['test']))),
    ...findPastEntries(sources, exports),
    ...findSameNames(sources),
    ...findWithoutSubject(new Map([...sources].filter(([file]) => file.startsWith('src/')))),
    ...findLargeFolders(new Map([...sources].filter(([file]) => !file.startsWith('bench/')))),
  ];
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) return 1;
  if (values.rooms) for (const line of describeRooms(rooms)) console.log(line);
  console.log(
    `${sources.size} files: imports one way only, names exported once; ` +
      `${rooms.size} rooms, ${countArrows(rooms)} arrows`,
  );
  return 0;
});
