/** The checks of `npm run lint` find what they are there for. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCircles, findWrongWays, readImports } from '../../scripts/check-structure/imports.ts';
import { findLargeFolders, findSameNames } from '../../scripts/check-structure/names.ts';

const graph = readImports(join(import.meta.dirname, '../../src'));

/** The project's own graph with one more import. */
const withImport = (from: string, to: string) =>
  new Map([...graph, [from, [...(graph.get(from) ?? []), to]]]);

describe('the rooms of src/', () => {
  it('reads every import, types included', () => {
    expect(graph.get('node/edge-node.ts')?.some((path) => path.startsWith('ledger/'))).toBe(true);
    expect(graph.size).toBeGreaterThan(100);
  });

  it('depend on each other one way only', () => {
    expect(findWrongWays(graph)).toEqual([]);
    expect(findCircles(graph)).toEqual([]);
  });

  it.each([
    ['stardust/merkle.ts', 'ledger/head.ts'],
    ['ledger/head.ts', 'upstream/upstream.ts'],
    ['ledger/head.ts', 'http/errors.ts'],
    ['upstream/upstream.ts', 'follower/pass.ts'],
    ['http/nft-lookup.ts', 'ledger/head.ts'],
    ['http/nft-lookup.ts', 'node/compute-white-flag.ts'],
    ['settings.ts', 'follower/follower.ts'],
  ])('%s must not import %s', (from, to) => {
    expect(findWrongWays(withImport(from, to))).toEqual([
      `${from}: ${from.split('/')[0]} must not import ${to}`,
    ]);
  });

  it('must be known to the check', () => {
    expect(findWrongWays(new Map([['attic/box.ts', []]]))).toHaveLength(1);
  });

  it('have no circle, of types neither', () => {
    const circle = new Map([
      ['stardust/a.ts', ['stardust/b.ts']],
      ['stardust/b.ts', ['stardust/a.ts']],
    ]);
    expect(findCircles(circle)).toEqual([
      'a circle: stardust/a.ts -> stardust/b.ts -> stardust/a.ts',
    ]);
  });

  it('have no circle of folders', () => {
    const circle = new Map([
      ['ledger/read/a.ts', ['ledger/write/a.ts', 'ledger/head.ts']],
      ['ledger/write/b.ts', ['ledger/read/b.ts']],
      ['ledger/head.ts', ['ledger/read/b.ts']],
    ]);
    expect(findCircles(circle)).toEqual(['a circle: ledger/read -> ledger/write -> ledger/read']);
  });
});

describe('exported names', () => {
  it('are exported by one file', () => {
    const sources = new Map([
      ['src/a.ts', 'export const Head = v.object({});\nexport type Head = string;\nconst b = 1;'],
      ['src/b.ts', 'export async function readHead() {}\nexport type Tail = string;'],
      ['src/c.ts', 'export abstract class Tail {}\n// export function readHead'],
    ]);
    expect(findSameNames(sources)).toEqual(['Tail is exported by src/b.ts and src/c.ts']);
  });
});

it('a folder has about fifteen files', () => {
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, i) => [`${folder}/${i}.ts`, ''] as const);
  const sources = new Map([...files('src/a', 16), ...files('src/b', 17), ...files('src/b/c', 2)]);
  expect(findLargeFolders(sources)).toEqual(['src/b has 17 files, more than 16']);
});
