/**
 * The explorer's files: they refer to nothing elsewhere, and are small.
 */
import { posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { bundleExplorer } from '../../cli/lib/explorer/bundle-explorer.ts';

let files: Map<string, Uint8Array>;

beforeAll(async () => {
  files = await bundleExplorer();
});

const textOf = (path: string) => new TextDecoder().decode(files.get(path));

it('has what the page refers to', () => {
  const references = [...textOf('index.html').matchAll(/(?:src|href)="\/([^"]+)"/g)];
  expect(references.length).toBeGreaterThan(2);
  for (const [, path] of references) expect([...files.keys()]).toContain(path);
  expect([...files.keys()]).toEqual(
    expect.arrayContaining([
      'explorer/card.jpg',
      'explorer/layout.js',
      'verifier.js',
      'openapi.json',
    ]),
  );
});

const scripts = () => [...files.keys()].filter((path) => path.endsWith('.js'));

it('keeps the notice of noble, and makes no markup of text', () => {
  expect(scripts().map(textOf).join()).toContain('noble-ed25519 - MIT License');
  for (const path of scripts())
    expect(textOf(path), path).not.toMatch(
      /\beval\(|new Function|document\.write|insertAdjacentHTML/,
    );
});

/** A script and all that it imports before it runs. */
function withImports(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, name] of textOf(path).matchAll(/(?:from|import)"(\.\.?\/[^"]+)"/g))
    withImports(posix.join(posix.dirname(path), name!), found);
  return found;
}

it('has the layout of graphs in a file of its own, and no view above 75 KB', () => {
  const size = (paths: Iterable<string>) =>
    [...paths].reduce((sum, path) => sum + gzipSync(files.get(path)!).length, 0);
  const always = ['index.html', 'explorer/style.css', 'explorer/icon.svg'];
  const base = new Set([
    ...always,
    ...withImports('explorer/app.js'),
    ...withImports('verifier.js'),
  ]);
  expect(base.size).toBeGreaterThan(8);
  expect(size(base)).toBeLessThan(66_000);
  for (const path of scripts()) {
    if (path === 'explorer/layout.js') continue;
    const view = withImports(path);
    expect([...view]).not.toContain('explorer/layout.js');
    expect(size(new Set([...base, ...view])), path).toBeLessThan(75_000);
  }
  const ofApi = scripts().filter((path) => textOf(path).includes('/openapi.json'));
  expect([ofApi.length, ofApi.some((path) => base.has(path))]).toEqual([1, false]);
  expect(size(ofApi)).toBeLessThan(5_000);
});
