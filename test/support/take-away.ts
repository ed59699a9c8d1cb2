/**
 * Takes a module out of a copy of the project (src/modules/README.md). With it go those that
 * need it, their tests, their lines in src/modules/list.ts and src/worker.ts, and those tests and benches
 * of the whole that import what is gone. The core and its tests may not.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { MODULES } from '../../src/modules/list.ts';
import type { ScratchCopy } from '../simulator/scratch-copy.ts';

/** What may go with a module besides its own folder. */
const MAY_GO =
  /^(?:bench|test\/(?:support|whole|e2e|slow|browser|clients|stardust|cli|explorer))\//;

const LISTS = ['src/modules/list.ts', 'src/worker.ts'];

/** The module and those that need it. */
export function withDependents(name: string): string[] {
  const gone = [name];
  for (const one of gone)
    for (const { name: other, needs = [] } of MODULES)
      if (!gone.includes(other) && needs.some((need) => need.name === one)) gone.push(other);
  return gone;
}

/** Takes modules out of a copy. Throws an Error where what must stay imports one. */
export function takeAway({ folder }: ScratchCopy, names: readonly string[]): void {
  const files = ['src', 'test', 'bench', 'cli', 'tools', 'client', 'explorer'].flatMap((root) =>
    readdirSync(join(folder, root), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name))),
  );
  const isOwn = (file: string) =>
    names.some((name) => new RegExp(`^(?:src|test)/modules/${name}/`).test(file));
  const gone = new Set(files.filter(isOwn));
  for (const list of LISTS) {
    const path = join(folder, list);
    writeFileSync(path, withoutModules(readFileSync(path, 'utf8'), names));
  }
  const imports = new Map(
    files
      .filter((file) => /\.tsx?$/.test(file) && !isOwn(file))
      .map((file) => [file, importsOf(file, readFileSync(join(folder, file), 'utf8'))]),
  );
  for (let before = 0; before < gone.size; ) {
    before = gone.size;
    for (const [file, targets] of imports)
      if (targets.some((each) => gone.has(each))) gone.add(file);
  }
  const missed = [...gone].filter((file) => !isOwn(file) && !MAY_GO.test(file));
  if (missed.length > 0) throw new Error(`these need ${names.join()}: ${missed.join(', ')}`);
  for (const file of gone) rmSync(join(folder, file));
}

/** The text of a list without these modules: lines of their imports, and of what those import. */
function withoutModules(text: string, names: readonly string[]): string {
  const lines = text.split('\n');
  const imports = lines.filter((line) =>
    names.some((name) => new RegExp(`'\\./(?:modules/)?${name}/`).test(line)),
  );
  const imported = imports.flatMap((line) => /\{ (.*) \}/.exec(line)?.[1]?.split(', ') ?? []);
  const entries = imported.flatMap((name) => [`${name},`, `...${name}(),`]);
  return lines
    .filter((line) => !imports.includes(line) && !entries.includes(line.trim()))
    .join('\n');
}

/** What tests in browsers are given without an import (`inject('sample')`). */
const SAMPLE = 'test/support/browser/serve-once.ts';

function importsOf(file: string, text: string): string[] {
  const imports = Array.from(
    text.matchAll(/(?:from|import\(|^import) ?'(\.[^']+)'/gm),
    ([, path]) => normalize(join(dirname(file), path!)),
  );
  return text.includes("inject('sample')") ? [...imports, SAMPLE] : imports;
}
