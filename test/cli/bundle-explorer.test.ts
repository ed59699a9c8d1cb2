/**
 * The explorer's files: they refer to nothing elsewhere, and are small.
 */
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

it('keeps the notice of noble, and makes no markup of text', () => {
  expect(textOf('verifier.js')).toContain('noble-ed25519 - MIT License');
  for (const [path, contents] of files) {
    if (!path.endsWith('.js')) continue;
    const script = new TextDecoder().decode(contents);
    expect(script, path).not.toMatch(/\beval\(|new Function|document\.write|insertAdjacentHTML/);
  }
});

it('has the layout of graphs in a file of its own', () => {
  const size = (path: string) => gzipSync(files.get(path)!).length;
  const scripts = [...files.keys()].filter((path) => /\.(js|css)$/.test(path));
  const rest = scripts.filter((path) => path !== 'explorer/layout.js');
  // all views together; what is loaded before a graph is counted in test/browser/states.spec.ts
  expect(rest.reduce((sum, path) => sum + size(path), 0)).toBeLessThan(74_000);
  expect(size('verifier.js')).toBeLessThan(19_500);
});
