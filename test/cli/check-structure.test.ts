/** The checks of `npm run lint`, which runs them over the sources, find what they are there for. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { findWithoutSubject } from '../../tools/check-structure/docstrings.ts';
import {
  findCircles,
  findModulesInCoreTests,
  findPastEntries,
  findUndeclaredNeeds,
  findWrongWays,
  graphOf,
  readImports,
} from '../../tools/check-structure/imports.ts';
import { findLargeFolders, findSameNames, readSources } from '../../tools/check-structure/names.ts';
import { findOutsidePacks } from '../../tools/check-structure/packs.ts';
import { findTooMany, readRooms, reduceRooms } from '../../tools/check-structure/rooms.ts';

const graph = (imports: Record<string, string[]>) => new Map(Object.entries(imports));
const files = (folder: string, count: number) =>
  Array.from({ length: count }, (_, i) => [`${folder}/${i}.ts`, ''] as const);

const folderCircle = {
  'ledger/read/a.ts': ['ledger/write/a.ts', 'ledger/head.ts'],
  'ledger/write/b.ts': ['ledger/read/b.ts'],
  'ledger/head.ts': ['ledger/read/b.ts'],
};
const exports = new Map([
  ['src/a.ts', 'export const Head = v.object({});\nexport type Head = string;\nconst b = 1;'],
  ['src/b.ts', 'export async function readHead() {}\nexport type Tail = string;'],
  ['src/c.ts', 'export abstract class Tail {}\n// export function readHead'],
]);

const docstrings = new Map([
  ['src/a.ts', '/** Reads. */\n/**\n * The same for all. */\n/** As-is. */\n/** One block. */'],
]);

const pastEntries = new Map([
  ['cli/a.ts', "import type { B } from '../src/stardust/block.ts';\nimport 'node:fs';"],
  ['cli/b.ts', "import { c } from '../src/stardust/wire/ids.ts';"],
  ['client/a.ts', "export { toHex } from '../src/stardust/encoding/bytes.ts';"],
  ['src/http/a.ts', "import { c } from '../stardust/wire/ids.ts';"],
]);

it.each([
  [
    findWrongWays(graph({ 'http/a.ts': ['node/edge-node.ts', 'modules.ts'] })),
    'http/a.ts: http must not import modules.ts',
  ],
  [findWrongWays(graph({ 'attic/box.ts': [] })), /does not know the room attic$/],
  [findCircles(graph({ 'a.ts': ['b.ts'], 'b.ts': ['a.ts'] })), 'a circle: a.ts -> b.ts -> a.ts'],
  [findCircles(graph(folderCircle)), 'a circle: ledger/read -> ledger/write -> ledger/read'],
  [
    findPastEntries(pastEntries, { './bytes': './encoding/bytes.js', './block': './block.js' }),
    'cli/b.ts: src/stardust/wire/ids.ts is not exported by src/stardust/package.json',
  ],
  [
    findUndeclaredNeeds(
      graph({
        'src/modules/a/routes/x.ts': [
          'src/modules/b/y.ts',
          'src/modules/c/y.ts',
          'src/http/answer.ts',
        ],
      }),
      new Map([['src/modules/a/module.ts', 'export const a: Module = { needs: [d, b] };']]),
    ),
    'src/modules/a/routes/x.ts: the module a does not say that it needs c',
  ],
  [
    findModulesInCoreTests(
      graph({ 'test/http/x.test.ts': ['src/modules/a/y.ts', 'src/modules/list.ts'] }),
    ),
    'test/http/x.test.ts: a test of the core must not import src/modules/a/y.ts',
  ],
  [findSameNames(exports), 'Tail is exported by src/b.ts and src/c.ts'],
  [findWithoutSubject(docstrings), /^src\/a.ts:2: begin .*The same for all/],
  [
    findLargeFolders(new Map([...files('a', 16), ...files('b', 17), ...files('b/c', 2)])),
    'b has 17 files, more than 16',
  ],
])('%j', (faults, due) => {
  expect(faults).toEqual([expect.stringMatching(due)]);
});

it('reads every import, types included', () => {
  const imports = readImports(join(PROJECT, 'src'));
  expect(imports.get('node/edge-node.ts')?.some((path) => path.startsWith('ledger/'))).toBe(true);
  expect(imports.size).toBeGreaterThan(100);
});

const PACK_USES = [
  [
    'src/ledger/write/a.ts',
    'const A = `SELECT p.key FROM pack p`;',
    /a\.ts:1: "FROM pack" is of packs/,
  ],
  ['src/a.ts', "\nconst A = 'DELETE FROM pack_content';", /^src\/a\.ts:2: "FROM pack_content"/],
  ['cli/a.ts', 'const A = `SELECT s.value ->> 0`;', /^cli\/a\.ts:1: "s\.value ->> 0"/],
] as const;

it.each(PACK_USES)('finds what %s knows of packs', (file, text, due) => {
  expect(findOutsidePacks(new Map([[file, text]]))).toEqual([expect.stringMatching(due)]);
  expect(findOutsidePacks(new Map([['src/ledger/packs/a.ts', text]]))).toEqual([]);
});

it('takes positions in a bound list, and other words, for no knowledge of packs', () => {
  const text = 'SELECT value ->> 0, j.value ->> 1 FROM json_each(?1) j JOIN packed';
  expect(findOutsidePacks(new Map([['src/a.ts', text]]))).toEqual([]);
});

it('counts rooms and arrows', () => {
  const one = new Map([['src/a/b.ts', ['src/c.ts']]]);
  expect(findTooMany(readRooms(one))).toEqual([]);
  const many = new Map(
    Array.from({ length: 19 }, (_, i) => [`src/room${i}/a.ts`, [`src/room0/a.ts`]] as const),
  );
  expect(findTooMany(readRooms(many))).toEqual([expect.stringMatching(/^19 rooms and 18 arrows/)]);
});

it('the picture in docs/architecture.md has the imports between rooms', () => {
  const rooms = readRooms(graphOf(readSources(PROJECT)));
  const due = [...reduceRooms(rooms)].flatMap(([room, targets]) =>
    targets.map((target) => `${room} -> ${target}`),
  );
  expect(drawnArrows().sort()).toEqual(due.sort());
});

it('docs/architecture.md leads requests and milestones through files of the core', () => {
  const graph = readImports(join(PROJECT, 'src'));
  const core = new Set(['core-worker.ts']);
  for (const file of core) for (const target of graph.get(file) ?? []) core.add(target);
  const text = readFileSync(join(PROJECT, 'docs/architecture.md'), 'utf8');
  const [, way] = /^## How a request is answered$(.*?)^## Invariants$/ms.exec(text)!;
  const named = Array.from(
    way!.matchAll(/`(?:src\/)?((?:[\w-]+\/)*[\w-]+\.ts)`/g),
    ([, file]) => file!,
  );
  expect(new Set(named).size).toBeGreaterThan(35);
  const isOfCore = (file: string) =>
    file === 'worker.ts' || [...core].some((each) => each === file || each.endsWith(`/${file}`));
  expect(named.filter((file) => !isOfCore(file))).toEqual([]);
});

/** The arrows of the picture, `a & b --> c --> d` in a line, with the labels of the rooms as names. */
function drawnArrows(): string[] {
  const text = readFileSync(join(PROJECT, 'docs/architecture.md'), 'utf8');
  const [, picture] = /^## Rooms$.*?^flowchart BT\n(.*?)^```/ms.exec(text)!;
  const labels = new Map(
    Array.from(picture!.matchAll(/(\w+)\["([^"]+?)\/?"\]/g), ([, name, label]) => [name, label]),
  );
  return picture!
    .replaceAll(/\["[^"]+"\]/g, '')
    .split('\n')
    .flatMap((line) => {
      const steps = line.split('-->').map((step) => step.split('&').map((name) => name.trim()));
      return steps
        .slice(1)
        .flatMap((to, i) =>
          steps[i]!.flatMap((from) =>
            to.map((each) => `${labels.get(from)} -> ${labels.get(each)}`),
          ),
        );
    });
}
