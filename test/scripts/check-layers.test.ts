/** The check of the rooms in src/: it finds what it is there for, and nothing in this project. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCircles, findWrongWays, readImports } from '../../scripts/check-layers.ts';

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
    ['http/nft-lookup.ts', 'node/open-node.ts'],
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
});
