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
    expect.arrayContaining(['explorer/card.jpg', 'explorer/layout.js', 'openapi.json']),
  );
});

const scripts = () => [...files.keys()].filter((path) => path.endsWith('.js'));

it('has the licence of each package that is in a script, and those alone', () => {
  const licences = textOf('explorer/licences.txt');
  // Preact's own scripts and qr's have none in them
  for (const notice of ['preact 1', 'Jason Miller', 'qr 0', 'd3-dag 1', 'valibot 1'])
    expect(licences).toContain(notice);
  const named = licences.match(/^\S+ \d+\.\d+\.\d+$/gm)!;
  expect(named.length).toBeGreaterThan(6);
  expect(named.filter((each) => /^(?:vitest|rolldown|miniflare) /.test(each))).toEqual([]);
});

it('keeps the notice of noble, and makes no markup of text', () => {
  expect(scripts().map(textOf).join()).toContain('noble-ed25519 - MIT License');
  for (const path of scripts())
    expect(textOf(path), path).not.toMatch(
      /\beval\(|new Function|document\.write|insertAdjacentHTML/,
    );
});

/** Scripts that a script imports: before it runs, or once a view needs them. */
function importsOf(path: string, when: 'before' | 'later'): string[] {
  const pattern =
    when === 'before' ? /(?:from|import)\s*["`](\.[^"`]+)["`]/g : /import\(["`](\.[^"`]+)["`]\)/g;
  return [...textOf(path).matchAll(pattern)].map(([, name]) =>
    posix.join(posix.dirname(path), name!),
  );
}

const has = (path: string, name: string) => textOf(path).includes(` as ${name}`);

/** What only a final ledger has: proofs by its root. */
const isOfArchive = (path: string) => has(path, 'finalOutputHere') || has(path, 'ProvedRecord');

/**
 * What a view needs once it is read and something is so: the rule that decides a conflict, a
 * transaction that was not found, a QR code that is opened.
 */
const isOfLater = (path: string) => /\/(?:judge-fault|find-transaction|qr-code)-/.test(path);

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

/** Of scripts, style and the page, compressed. */
const MAX_BYTES = 80_000;

/** Scripts and styles. */
const MAX_FILES = 8;

it('loads any view with at most 8 scripts and styles and 80 KB, other than the layout of graphs', () => {
  const sizeOf = (paths: Iterable<string>) =>
    [...paths].reduce((sum, path) => sum + gzipSync(files.get(path)!).length, 0);
  const app = withImports('explorer/app.js', NOTHING);
  const verifier = scripts().find((path) => path.startsWith('explorer/verifier-'))!;
  const views = new Set(importsOf('explorer/app.js', 'later'));
  expect(views.delete(verifier)).toBe(true);
  expect(views.size).toBeGreaterThan(8);
  expect(scripts().filter(isOfArchive).length).toBeGreaterThan(0);
  for (const view of views)
    for (const kept of [isOfArchive, (path: string) => !isOfArchive(path) && !isOfLater(path)]) {
      const loaded = withImports(view, kept, new Set(['explorer/style.css', ...app, verifier]));
      expect(loaded).not.toContain('explorer/layout.js');
      expect(loaded.size, [...loaded].join(' ')).toBeLessThanOrEqual(MAX_FILES);
      expect(sizeOf(['index.html', ...loaded]), view).toBeLessThan(MAX_BYTES);
    }
  const ofApi = scripts().filter((path) => textOf(path).includes('/openapi.json'));
  expect([ofApi.length, ofApi.some((path) => app.has(path))]).toEqual([1, false]);
  expect(sizeOf(ofApi)).toBeLessThan(5_000);
});
