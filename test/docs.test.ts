/**
 * Whoever follows a reference finds something: every document, section, file and rule number that a
 * comment, a message or a document names exists. Pages outside the repository are named by URL.
 *
 * The finder itself is tested on made-up text, so this file is not searched.
 */
import { describe, expect, it } from 'vitest';
import { findFaults, type Library, rulesNamed, type Text } from './support/docs/find-faults.ts';
import { anchorsOf, linksOf, slugOf } from './support/docs/markdown.ts';
import { readRepository, rulesOf } from './support/docs/repository.ts';
import { readLineComments, readParagraphs, readTypeScript } from './support/docs/source-texts.ts';

describe('the repository', () => {
  const { library, texts } = readRepository();
  const searched = texts.filter(({ file }) => file !== 'test/docs.test.ts');

  it('has no reference that leads nowhere', () => {
    expect(searched.flatMap((text) => findFaults(text, library))).toEqual([]);
  });

  it('has texts of every kind, and many references', () => {
    const kinds = new Set(searched.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['comment', 'document', 'string']);
    const inCode = searched.filter(({ kind }) => kind !== 'document').map(({ text }) => text);
    expect(inCode.flatMap(rulesNamed).length).toBeGreaterThan(500);
    expect(inCode.join('\n').match(/docs\/[\w-]+\.md/g)!.length).toBeGreaterThan(100);
  });

  it('defines its 124 cases, and rules in every chapter', () => {
    const { rules } = library;
    for (let i = 1; i <= 124; i++) expect(rules).toContain(`H-${i}`);
    for (const letter of 'ABCDEFGH') expect(rules).toContain(letter);
    for (const rule of ['A.0', 'B.13', 'C-43', 'C-M', 'M-9', 'L-5', 'S1', 'S2', 'S2.13', 'X-2'])
      expect(rules).toContain(rule);
    for (let i = 1; i <= 7; i++) expect(rules).toContain(`1.${i}`);
    expect(rules.has('C-44')).toBe(false);
    expect(rules.has('H-125')).toBe(false);
  });
});

describe('findFaults', () => {
  const library: Library = {
    files: new Set(['README.md', 'docs/a.md', 'docs/protocol.md', 'src/ledger/head.ts']),
    anchorsOf: (document) => new Set(document === 'docs/a.md' ? ['the-trap'] : []),
    rules: new Set(['A.4', 'C-6', 'S2', 'S2.13', 'H-9', 'G', '1.1', '1.6']),
  };
  const faultsIn = (text: string, kind: Text['kind'] = 'comment', file = 'src/x.ts') =>
    findFaults({ file, line: 7, kind, text }, library);

  it.each([
    'docs/a.md#the-trap',
    'see docs/a.md, and README.md',
    '(TIP-0018; docs/protocol.md, A.4), C-6: no, S2, S2.13 and H-9; docs/protocol.md, G',
    'rules 1.1 to 1.6; (1.6)',
    'src/http/NAME.ts and migrations/000N_NAME.sql',
    'see ../ledger/head.ts and head.ts, src/ledger/head.ts',
    'https://example.org/shared/design.md and https://example.org/issues/7#x',
    'SHA-512, TIP-0020, UTF-8, iota.go v3.0.0-rc.3, D1, KV, 1.5 s, RFC 9110 §8.8.1, HTTP/1.1',
  ])('finds nothing in: %s', (text) => {
    expect(faultsIn(text)).toEqual([]);
  });

  it.each([
    ['docs/b.md', 'there is no docs/b.md'],
    ['docs/a.md#the-trip', 'docs/a.md has no section #the-trip'],
    ['a.md', 'there is no a.md'],
    ['(docs/protocol.md, A.11)', 'there is no rule A.11'],
    ['C-44: too long', 'there is no rule C-44'],
    ['S2.14', 'there is no rule S2.14'],
    ['A.4.1', 'there is no rule A.4.1'],
    ['1.9', 'there is no rule 1.9'],
    ['H-1 to H-9', 'there is no rule H-1'],
    ['docs/protocol.md, F', 'there is no rule F'],
    ['rules 1.1 to 1.9', 'there is no rule 1.9'],
    ['1.8: a diff', 'there is no rule 1.8'],
    ['(design §3, the trap)', '"design §" is not in the repository'],
    ['platform.md §1', '"platform.md" is not in the repository'],
    ['formats-and-clients.md 1.4', '"formats-and-clients.md" is not in the repository'],
    ['data/README.md', '"data/README.md" is not in the repository'],
    ['../shared/review', '"../shared" is not in the repository'],
    ['as issue 7 asks', '"issue 7" is not in the repository'],
    ['(record.ts)', 'there is no record.ts'],
  ])('finds: %s', (text, fault) => {
    expect(faultsIn(text)).toEqual([`src/x.ts:7: ${fault}`]);
  });

  it('resolves the links of a document from where it is', () => {
    const inDocs = (text: string) => faultsIn(text, 'document', 'docs/a.md');
    expect(
      inDocs('[x](a.md#the-trap) [y](#the-trap) [z](../README.md) [c](../src/ledger)'),
    ).toEqual([]);
    expect(inDocs('[x](#nothing)')).toEqual(['docs/a.md:7: docs/a.md has no section #nothing']);
    expect(inDocs('[x](../src/moved/)')).toEqual(['docs/a.md:7: there is no ../src/moved/']);
    expect(inDocs('[x]: https://example.org/x\n[y]: ../README.md')).toEqual([]);
    expect(inDocs('[x]: picture.svg')).toEqual(['docs/a.md:7: there is no picture.svg']);
  });
});

describe('readTypeScript', () => {
  it('reads comments and strings, and nothing else', () => {
    const source = [
      '/**',
      ' * A block (docs/protocol.md,',
      ' * A.1).',
      ' */',
      "const a = 'C-6: it\\'s'; // one",
      '// two',
      'const pattern = /[/"]\\/\'/g; const ratio = a / b / c;',
      ['const t = `x $', '{`inner $', '{1}`} // no comment`;'].join(''),
      '/* last */',
    ].join('\n');
    expect(readTypeScript(source)).toEqual([
      { kind: 'comment', line: 1, text: 'A block (docs/protocol.md, A.1).' },
      { kind: 'string', line: 5, text: "C-6: it\\'s" },
      { kind: 'comment', line: 5, text: 'one two' },
      { kind: 'string', line: 8, text: 'x ' },
      { kind: 'string', line: 8, text: 'inner ' },
      { kind: 'string', line: 8, text: '' },
      { kind: 'string', line: 8, text: ' // no comment' },
      { kind: 'comment', line: 9, text: 'last' },
    ]);
  });

  it.each(["const a = 'b", 'const a = `b', '/* a', 'if (a) {'])('does not guess: %s', (source) => {
    expect(() => readTypeScript(source)).toThrow();
  });

  it('reads comments that end with the line', () => {
    expect(readLineComments('SELECT 1; -- one\n-- two\n\n-- three', '--')).toEqual([
      { kind: 'comment', line: 1, text: 'one two' },
      { kind: 'comment', line: 4, text: 'three' },
    ]);
    expect(readLineComments('#!/bin/sh\na = "b" # c', '#')).toEqual([
      { kind: 'comment', line: 2, text: 'c' },
    ]);
  });
});

it('readParagraphs tells where they begin', () => {
  expect(readParagraphs('\n# a\n\n\nb\n c\n \nd\n')).toEqual([
    { line: 2, text: '# a' },
    { line: 5, text: 'b\n c' },
    { line: 8, text: 'd' },
  ]);
});

describe('anchorsOf', () => {
  it.each([
    ['A.10 Milestone payload, type 7', 'a10-milestone-payload-type-7'],
    ['H.1 Parsing / syntactic', 'h1-parsing--syntactic'],
    ['`GET /x`: *what* it [does](y.md)', 'get-x-what-it-does'],
    ['Über snake_case', 'über-snake_case'],
  ])('%s', (heading, slug) => {
    expect(slugOf(heading)).toBe(slug);
  });

  it('numbers headings that are alike, and skips code', () => {
    const markdown = '# One\n## One\n```sh\n# no heading\n```\n<a id="here"></a>\n';
    expect([...anchorsOf(markdown)]).toEqual(['one', 'one-1', 'here']);
  });

  it('finds links, but no URLs', () => {
    expect(linksOf('[a](b.md)\n![c](d.svg "e") [f](https://g.h)\n[i]: j.md')).toEqual([
      { line: 1, target: 'b.md' },
      { line: 2, target: 'd.svg' },
      { line: 3, target: 'j.md' },
    ]);
  });
});

describe('rulesOf', () => {
  it('takes definitions, not mentions', () => {
    const protocol =
      '## G. Parameters\n### A.1 Block\n| S2.4 | as C-9 |\n- **H-3** see H-4\nM-1 is';
    expect([...rulesOf(protocol, 'Rule 1.1.\n(rule 1.2)')]).toEqual([
      'G',
      'A.1',
      'S2.4',
      'H-3',
      'S2',
      '1.1',
    ]);
  });
});
