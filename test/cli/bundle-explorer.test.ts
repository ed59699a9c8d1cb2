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

/** Scripts that a script imports: before it runs, or once a view needs them. */
function importsOf(path: string, when: 'before' | 'later'): string[] {
  const pattern = when === 'before' ? /(?:from|import)"(\.[^"]+)"/g : /import\("(\.[^"]+)"\)/g;
  return [...textOf(path).matchAll(pattern)].map(([, name]) =>
    posix.join(posix.dirname(path), name!),
  );
}

const has = (path: string, name: string) => textOf(path).includes(` as ${name}`);

/** What only a final ledger has: proofs by its root. */
const isOfArchive = (path: string) => has(path, 'finalOutputHere') || has(path, 'ProvedRecord');

/** What judges why a transaction is in conflict, 4 KB: on the page of one that is, after all else. */
const isOfConflicts = (path: string) => has(path, 'judgeFault');

/** A script and all that it imports, and also what it may import later if that is `kept`. */
function withImports(
  path: string,
  kept: (path: string) => boolean,
  found = new Set<string>(),
): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  const later = importsOf(path, 'later').filter(kept);
  for (const each of [...importsOf(path, 'before'), ...later]) withImports(each, kept, found);
  return found;
}

const NOTHING = () => false;

const KB = 1024;

it('loads up to 55 KB for every view, and with any one 80 KB, other than the layout of graphs', () => {
  const sizeOf = (paths: ReadonlySet<string>) =>
    [...paths].reduce((sum, path) => sum + gzipSync(files.get(path)!).length, 0);
  const page = ['index.html', 'explorer/style.css', 'explorer/icon.svg'];
  const loaded = ['explorer/app.js', 'verifier.js'].flatMap((path) => [
    ...withImports(path, NOTHING),
  ]);
  const base = new Set([...page, ...loaded]);
  expect(sizeOf(base)).toBeLessThan(55 * KB);
  const views = new Set(importsOf('explorer/app.js', 'later'));
  views.delete('verifier.js');
  expect(views.size).toBeGreaterThan(8);
  expect(scripts().filter(isOfArchive).length).toBeGreaterThan(0);
  for (const view of views) {
    const live = withImports(view, (path) => !isOfArchive(path) && !isOfConflicts(path));
    expect(live).not.toContain('explorer/layout.js');
    for (const all of [live, withImports(view, isOfArchive)])
      expect(sizeOf(new Set([...base, ...all])), view).toBeLessThan(80_000);
  }
  const ofApi = scripts().filter((path) => textOf(path).includes('/openapi.json'));
  expect([ofApi.length, ofApi.some((path) => base.has(path))]).toEqual([1, false]);
  expect(sizeOf(new Set(ofApi))).toBeLessThan(5_000);
});
