/** The checks of `npm run lint`, which runs them over the sources, find what they are there for. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { findWithoutSubject } from '../../tools/check-structure/docstrings.ts';
import {
  findCircles,
  findPastEntries,
  findUndeclaredNeeds,
  findWrongWays,
  readImports,
} from '../../tools/check-structure/imports.ts';
import { findLargeFolders, findSameNames } from '../../tools/check-structure/names.ts';

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
      graph({ 'modules/a/routes/x.ts': ['modules/b/y.ts', 'modules/c/y.ts', 'http/answer.ts'] }),
      new Map([['src/modules/a/module.ts', 'export const a: Module = { needs: [d, b] };']]),
    ),
    'modules/a/routes/x.ts: the module a does not say that it needs c',
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
