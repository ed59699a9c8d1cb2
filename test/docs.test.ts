/**
 * What code and documents name exists: rules of docs/protocol.md and docs/snapshot-format.md,
 * documents and their sections, files of code, and where links of documents lead. This file is not
 * searched: it names things that are not there, to show that they are found.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../cli/lib/project.ts';
import { FRESHNESS } from '../src/http/freshness.ts';
import { listRoutes } from '../src/http/routes.ts';
import { MODULES } from '../src/modules/list.ts';

/** Folders without a text of ours. */
const SKIPPED = /^(?:node_modules|\.git|\.wrangler|dist|coverage)$/;

/** Texts that are searched, and among them data, what tools write, and this file. */
const TEXT = /\.(?:ts|sql|md|toml|yml|html|jsonc?)$/;
const NOT_OURS =
  /^(?:(?:test\/vectors|sample)\/.*\.json|(?:package-lock|tsconfig)\.json|worker-configuration\.d\.ts|test\/docs\.test\.ts)$/;

/** `A.10`, `H-119`, `C-M`, `S2`, `S2.13`; a longer number is matched whole, and is no rule. */
const RULE = /(?<![\w.§#-])(?:[A-H]\.\d+(?:\.\d+)*|[ACFHLMNX]-\d+|C-M|S[1-6](?:\.\d+)*)(?![\w§])/g;

/** `rule 1.6`, `rules 1.1 to 1.3`: those of docs/snapshot-format.md. */
const SNAPSHOT_RULE = /\brules? (\d\.\d)\b(?:(?: to| and|,) (\d\.\d)\b)?/g;

const DOCUMENT = /(?<![\w.~-])(?:\.{0,2}\/)?(?:[\w.-]+\/)*[\w-]+\.md(?:#[\w-]+)?(?![\w-])/g;

/** A path or the end of one. Names with capitals, as `NAME.ts`, are the reader's to choose. */
const CODE_FILE =
  /(?<![\w.*$~{}-])(?:\.{0,2}\/)*(?:[\w.-]+\/)*[a-z\d][a-z\d.-]*\.(?:ts|sql|toml)\b/g;

/** Where a link or a picture of Markdown leads, unless that is elsewhere; also `[name]: target`. */
const LINK = /(?:\]\(|^\[[^\]]+\]: )(?![a-z]+:)([^)\s]+)/gm;

/** The comment in a line of TypeScript. */
const COMMENT = /(?:^\s*\/?\*\*?|\/\/)\s(.*)$/;

const files = listFiles('');
const rules = readRules();
const anchors = new Map(
  files.filter((file) => file.endsWith('.md')).map((file) => [file, anchorsOf(read(file))]),
);

describe('the repository', () => {
  const searched = files.filter((file) => TEXT.test(file) && !NOT_OURS.test(file));

  it('names nothing that does not exist', () => {
    expect(searched.flatMap((file) => findFaults(file, read(file)))).toEqual([]);
  });

  it('has no link of a document that leads nowhere', () => {
    const links = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) => linksOf(read(file)).map((target) => ({ file, target })));
    expect(links.length).toBeGreaterThan(200);
    expect(links.filter(({ file, target }) => !leadsSomewhere(file, target))).toEqual([]);
  });

  it('names many rules, and defines its 124 cases', () => {
    const named = searched.flatMap((file) => read(file).match(RULE) ?? []);
    expect(named.length).toBeGreaterThan(1000);
    for (let i = 1; i <= 124; i++) expect(rules).toContain(`H-${i}`);
    for (let i = 1; i <= 7; i++) expect(rules).toContain(`1.${i}`);
    expect(rules.size).toBeLessThan(350);
  });
});

it('has each route in the contract, and no other', () => {
  const named = read('docs/contract.md').matchAll(/`(?:GET|POST) (\/[^`?]*)/g);
  const routes = Object.values(listRoutes(MODULES)).map(({ path }) => path.replace('+', ''));
  const paths = Array.from(named, ([, path]) => path!);
  expect([...new Set(paths)].sort()).toEqual([...new Set(routes)].sort());
});

it('has each Cache-Control in the table of the contract, and no other', () => {
  const table = read('docs/contract.md')
    .split(/^## /m)
    .find((text) => text.startsWith('Caching'))!
    .split('\n\n')[1]!
    .replace(/^.*\n.*\n/, '');
  const headers = Array.from(table.matchAll(/\| `([^`]+)` \|$/gm), ([, header]) => header!);
  // of protected routes, and of the files that the platform serves
  const others = ['private, no-store', 'public, max-age=0, must-revalidate'];
  const ours = Object.values(FRESHNESS).map(({ cacheControl }) => cacheControl);
  expect(new Set(headers)).toEqual(new Set([...ours, ...others]));
});

it.each([
  ['[a](#nothing)', 'docs/storage.md'],
  ['[a](nothing.md)', 'docs/storage.md'],
  ['[a](storage.md#nothing)', 'docs/contract.md'],
  ['[a](../cli/nothing)', 'docs/contract.md'],
  ['![a](docs/nothing.svg)', 'README.md'],
  ['see\n\n[a]: nothing.md', 'README.md'],
])('%j leads nowhere', (text, file) => {
  expect(linksOf(text).map((target) => leadsSomewhere(file, target))).toEqual([false]);
});

describe('findFaults', () => {
  it.each([
    '// docs/storage.md#nothing',
    '// docs/nothing.md',
    "throw new Error('see docs/nothing.md')",
    '// S2.14',
    "throw new Error('C-44: too long')",
    ' * H-1 to H-125',
    '// A.4.1',
    ' * rules 1.1 to 1.9',
    '// as in nothing.ts',
    ' * ledger/log.ts',
    '/** migrations/nothing.sql */',
  ])('finds: %s', (line) => {
    expect(findFaults('src/platform/log.ts', `\n${line}\n`)).toEqual([
      expect.stringMatching(/^src\/platform\/log\.ts:2: there is no /),
    ]);
  });

  it.each([
    '// docs/protocol.md, S2.13 and README.md, docs/architecture.md#rooms',
    ' * https://example.org/nothing.md#x, https://example.org/nothing.ts',
    '// SHA-512, TIP-0020, UTF-8, v3.0.0-rc.3, D1, RFC 9110 §8.8.1, HTTP/1.1',
    '// cli/NAME.ts and migrations/000N_NAME.sql',
    '// src/platform/log.ts, ../log.ts, log.ts',
    "const name = 'made-up.ts';",
  ])('finds nothing in: %s', (line) => {
    expect(findFaults('src/platform/log.ts', line)).toEqual([]);
  });
});

/** A sentence for each thing that a text names and that does not exist, with file and line. */
function findFaults(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, i) => {
    const plain = line.replace(/\b[a-z][a-z+.-]*:\/\/[^\s)>\]]+/g, '');
    const prose = file.endsWith('.ts') ? (COMMENT.exec(plain)?.[1] ?? '') : plain;
    const missing = [
      ...namedRules(plain).filter((rule) => !rules.has(rule)),
      ...(plain.match(DOCUMENT) ?? []).filter((name) => !hasDocument(file, name)),
      ...(prose.match(CODE_FILE) ?? []).filter((name) => !hasEnding(name)),
    ];
    return missing.map((name) => `${file}:${i + 1}: there is no ${name}`);
  });
}

function namedRules(text: string): string[] {
  const ofSnapshots = Array.from(text.matchAll(SNAPSHOT_RULE), (match) => match.slice(1)).flat();
  return [...(text.match(RULE) ?? []), ...ofSnapshots.filter((rule) => rule !== undefined)];
}

/** Code is not read: `[x](y)` may stand there. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');
  return Array.from(prose.matchAll(LINK), ([, target]) => target!);
}

/** @param file that has the link */
function leadsSomewhere(file: string, target: string): boolean {
  const [path, anchor] = target.split('#') as [string, string?];
  const found = path === '' ? file : posix.join(posix.dirname(file), path);
  if (!existsSync(join(PROJECT, found))) return false;
  return anchor === undefined || (anchors.get(found)?.has(anchor) ?? false);
}

/** By its path from the root, or relative to the file that names it. */
function hasDocument(file: string, name: string): boolean {
  const [path, anchor] = name.split('#') as [string, string?];
  const found = [path, posix.join(posix.dirname(file), path)].find((each) => anchors.has(each));
  return found !== undefined && (anchor === undefined || anchors.get(found)!.has(anchor));
}

function hasEnding(name: string): boolean {
  const path = name.replace(/^(?:\.{0,2}\/)+/, '');
  return files.some((file) => file === path || file.endsWith(`/${path}`));
}

/** By GitHub's rules. Lines of code that begin with # are taken for headings too. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const slugger = new GithubSlugger();
  const headings = markdown.matchAll(/^#{1,6} +(.*?) *$/gm);
  return new Set(Array.from(headings, ([, heading]) => slugger.slug(heading!)));
}

/**
 * The rules that are defined: in docs/protocol.md as a heading, as the first cell of a row, or in
 * bold at the start of an item; in docs/snapshot-format.md as "Rule 1.1."; the cases are tests.
 */
function readRules(): ReadonlySet<string> {
  const cases = [...listFiles('test/stardust/catalogue'), 'test/support/http/contract.ts'];
  const number = String.raw`([A-H]\.\d+|[ACFHLMNX]-\d+|C-M|S\d(?:\.\d+)?)`;
  const definition = new RegExp(`^(?:#+ |\\| |- \\*\\*)${number}(?= \\||\\*\\*|\\.? )`, 'gm');
  const found = [
    ...read('docs/protocol.md').matchAll(definition),
    ...read('docs/snapshot-format.md').matchAll(/^Rule (\d\.\d)\./gm),
    ...cases.flatMap((file) => [...read(file).matchAll(/['` ](H-\d+)(?=[ ,])/g)]),
  ].map(([, rule]) => rule!);
  // S2 is the stage of the rules S2.0 to S2.13
  return new Set([...found, ...found.map((rule) => rule.replace(/^(S\d)\..*/, '$1'))]);
}

function listFiles(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (SKIPPED.test(path)) return [];
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

function read(file: string): string {
  return readFileSync(join(PROJECT, file), 'utf8');
}
