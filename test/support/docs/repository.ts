/**
 * The repository as the test of its references reads it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Library, Text } from './find-faults.ts';
import { anchorsOf } from './markdown.ts';
import { readLineComments, readParagraphs, readTypeScript } from './source-texts.ts';

const root = join(import.meta.dirname, '../../..');

/** Folders that hold no text of ours, at any depth. */
const SKIPPED = ['node_modules', '.git', '.wrangler', 'dist', 'coverage'];

/** Folders of data, in which only documents are read. */
const DATA = ['test/vectors/', 'sample/'];

/** Written by tools. */
const GENERATED = ['worker-configuration.d.ts', 'package-lock.json'];

export function readRepository(): { library: Library; texts: Text[] } {
  const files = listFiles('');
  const anchors = new Map<string, ReadonlySet<string>>();
  const library: Library = {
    files: new Set(files),
    anchorsOf: (document) => {
      const known = anchors.get(document) ?? anchorsOf(read(document));
      anchors.set(document, known);
      return known;
    },
    rules: rulesOf(read('docs/protocol.md'), read('docs/snapshot-format.md')),
  };
  return { library, texts: files.filter((file) => !GENERATED.includes(file)).flatMap(readTexts) };
}

function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (SKIPPED.includes(entry.name)) return [];
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

/**
 * The rules that are defined: in docs/protocol.md as a heading, as the first cell of a row of a
 * table, or in bold at the start of an item of a list; in docs/snapshot-format.md as "Rule 1.1."
 */
export function rulesOf(protocol: string, snapshotFormat: string): ReadonlySet<string> {
  const number = '([A-H]\\.\\d+|[ACFHLMNX]-\\d+|C-M|S\\d(?:\\.\\d+)?|[A-H](?=\\. ))';
  const definition = new RegExp(`^(?:#+ |\\| |- \\*\\*)${number}(?= \\||\\*\\*|\\.? )`, 'gm');
  const rules = Array.from(protocol.matchAll(definition), ([, rule]) => rule!);
  const snapshotRules = Array.from(
    snapshotFormat.matchAll(/^Rule (\d\.\d)\./gm),
    ([, rule]) => rule!,
  );
  // S2 is the stage of the rules S2.0 to S2.13
  const stages = rules.flatMap((rule) => /^S\d(?=\.)/.exec(rule)?.[0] ?? []);
  return new Set([...rules, ...stages, ...snapshotRules]);
}

function readTexts(file: string): Text[] {
  const kind = file === '.ci/run' ? 'sh' : file.split('.').at(-1)!;
  switch (kind) {
    case 'ts':
      return readTypeScript(read(file), file).map((each) => ({ file, ...each }));
    case 'sql':
      return readLineComments(read(file), '--').map((each) => ({ file, ...each }));
    case 'toml':
    case 'yml':
    case 'sh':
      return readLineComments(read(file), '#').map((each) => ({ file, ...each }));
    case 'md':
    case 'html':
    case 'json':
    case 'jsonc':
      return DATA.some((folder) => file.startsWith(folder) && !file.endsWith('.md'))
        ? []
        : readParagraphs(read(file)).map((each) => ({ file, kind: 'document', ...each }));
    default:
      return [];
  }
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
