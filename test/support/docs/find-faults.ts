/**
 * Finds references that lead nowhere: to documents, sections, files and rule numbers that do not
 * exist, and to pages outside the repository that are named without a URL.
 */
import { posix } from 'node:path';
import { linksOf } from './markdown.ts';

/** What there is to refer to. */
export interface Library {
  /** Paths of all files of the repository, from its root. */
  files: ReadonlySet<string>;
  /** Anchors of a document by its path. */
  anchorsOf(document: string): ReadonlySet<string>;
  /** Numbers of rules, sections and cases. */
  rules: ReadonlySet<string>;
}

export interface Text {
  /** Path from the root. */
  file: string;
  line: number;
  kind: 'comment' | 'string' | 'document';
  text: string;
}

/** Pages that were never part of the repository. */
const OUTSIDE =
  /\bdesign,? §|\bdesign\.md|\bplatform\.md|\bformats-and-clients\.md|\bdata\/README\.md|\.\.\/shared\b|\bissues? #?\d/gi;

const DOCUMENT = /(?<![\w.~-])(?:\.{0,2}\/)?(?:[\w.-]+\/)*[\w-]+\.md(?:#[\w-]+)?(?![\w-])/g;

const SOURCE_FILE = /(?<![\w.*$~{}-])(?:\.{0,2}\/)*(?:[\w.-]+\/)*[\w-][\w.-]*\.(?:ts|sql|toml)\b/g;

/** `A.10`, `H.4`, `C-6`, `H-119`, `C-M`, `S2`, `S2.13`; longer numbers are matched whole. */
const RULE = /(?<![\w.§#-])(?:[A-H]\.\d+(?:\.\d+)*|[ACFHLMNX]-\d+|C-M|S[1-6](?:\.\d+)*)(?![\w§])/g;

/** A whole chapter: `docs/protocol.md, G`. */
const CHAPTER = /docs\/protocol\.md, ([A-H])(?![\w.-])/g;

/** `rule 1.6`, `rules 1.1 to 1.3`, `(1.6)`, `1.6:` at the start, or nothing but the number. */
const SNAPSHOT_RULE =
  /\brules? (\d\.\d)\b(?:(?: to| and|,) (\d\.\d)\b)?|\((\d\.\d)\)|^(1\.[1-9])(?:$|: )/g;

/** All faults of a text, each with the place where it is. */
export function findFaults(text: Text, library: Library): string[] {
  const plain = withoutUrls(text.text);
  const faults = [
    ...findOutside(plain),
    ...findDocuments(text, plain, library),
    ...findSourceFiles(text, plain, library),
    ...rulesNamed(plain)
      .filter((rule) => !library.rules.has(rule))
      .map((rule) => `there is no rule ${rule}`),
  ];
  return faults.map((fault) => `${text.file}:${text.line}: ${fault}`);
}

/** The rule numbers that a text names. */
export function rulesNamed(text: string): string[] {
  const plain = withoutUrls(text);
  return [
    ...(plain.match(RULE) ?? []),
    ...Array.from(plain.matchAll(CHAPTER), ([, letter]) => letter!),
    ...Array.from(plain.matchAll(SNAPSHOT_RULE), (match) => match.slice(1)).flat(),
  ].filter((rule) => rule !== undefined);
}

function findOutside(plain: string): string[] {
  return (plain.match(OUTSIDE) ?? []).map((found) => `"${found}" is not in the repository`);
}

function findDocuments({ file, kind, text }: Text, plain: string, library: Library): string[] {
  const named = (plain.match(DOCUMENT) ?? []).flatMap((reference) => {
    if (reference.search(OUTSIDE) >= 0) return [];
    // a document may name its neighbours by their names alone
    const isRelative = reference.startsWith('.') || kind === 'document';
    const bases = isRelative ? [posix.dirname(file), '.'] : ['.'];
    return resolve(reference, bases, library);
  });
  if (!file.endsWith('.md') || kind !== 'document') return named;
  const links = linksOf(text).flatMap(({ target }) =>
    target.startsWith('#')
      ? resolve(`${posix.basename(file)}${target}`, [posix.dirname(file)], library)
      : resolve(target, [posix.dirname(file)], library),
  );
  return [...new Set([...named, ...links])];
}

/** What is wrong with a reference to a file or folder, with an anchor or without. */
function resolve(reference: string, bases: readonly string[], library: Library): string[] {
  const [path, anchor] = reference.split('#') as [string, string?];
  const found = bases
    .map((base) => posix.join(base, path))
    .find((each) => library.files.has(each) || hasFolder(library, each));
  if (found === undefined) return [`there is no ${path}`];
  if (anchor === undefined || !found.endsWith('.md')) return [];
  return library.anchorsOf(found).has(anchor) ? [] : [`${found} has no section #${anchor}`];
}

function hasFolder({ files }: Library, path: string): boolean {
  const prefix = path.endsWith('/') ? path : `${path}/`;
  return [...files].some((file) => file.startsWith(prefix));
}

/** Comments and documents name files of code by their path or the end of it. */
function findSourceFiles({ file, kind }: Text, plain: string, { files }: Library): string[] {
  if (kind === 'string' || file.endsWith('.json')) return [];
  return (
    (plain.match(SOURCE_FILE) ?? [])
      .map((reference) => reference.replace(/^(?:\.{0,2}\/)+/, ''))
      // a name that the reader chooses
      .filter((path) => !/NAME[^/]*$/.test(path))
      .filter((path) => ![...files].some((file) => file === path || file.endsWith(`/${path}`)))
      .map((path) => `there is no ${path}`)
  );
}

function withoutUrls(text: string): string {
  return text.replace(/\b[a-z][a-z+.-]*:\/\/[^\s)>\]]+/g, (url) => ' '.repeat(url.length));
}
