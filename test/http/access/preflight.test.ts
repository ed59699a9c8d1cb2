/** Which headers a preflight allows: those it asks for, if that is a list of header names. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerPreflight } from '../../../src/http/answer.ts';

const DEFAULT = 'content-type, if-none-match';

/** RFC 9110 §5.6.2 the other way round: visible ASCII but delimiters. */
const NAME = /^[^\0-\x20"(),/:;<=>?@[\\\]{}\x7f-\uffff]+$/;

/** What Access-Control-Allow-Headers says. Header values come as they are, forbidden ones too. */
function allowed(asked: string | null): string {
  const get = (name: string) => (name === 'access-control-request-headers' ? asked : null);
  return answerPreflight({ get }).headers!['access-control-allow-headers']!;
}

describe('allowed as asked', () => {
  it.each([
    'authorization',
    'authorization,user-agent,x-min-ledger-index',
    'Authorization, X-Min-Ledger-Index',
    'content-type ,\tif-none-match',
    '*',
    "!#$%&'*+-.^_`|~09AZaz",
    'a'.repeat(1024),
    `${'a,'.repeat(511)}aa`,
  ])('%s', (asked) => expect(allowed(asked)).toBe(asked));
});

describe('not a list of header names', () => {
  it.each([
    ['nothing asked', null],
    ['empty', ''],
    ['a space', ' '],
    ['a comma alone', ','],
    ['an empty element', 'a,,b'],
    ['a comma at the end', 'a,'],
    ['a comma at the start', ',a'],
    ['two words', 'a b'],
    ['a space before it', ' a'],
    ['a colon', 'x-a: b'],
    ['a semicolon', 'a;q=1'],
    ['a quoted string', '"a"'],
    ['a slash', 'a/b'],
    ['markup', '<script>'],
    ['letters beyond ASCII', 'é'],
    ['a line feed after it', 'a\n'],
    ['a header injected', 'a\r\nset-cookie: b'],
    ['a NUL', 'a\0'],
    ['a good name beside a bad one', 'authorization, x y'],
    ['a character more than 1 KB', 'a'.repeat(1025)],
    ['1 KB of commas', ','.repeat(1024)],
    ['100 KB', 'authorization,'.repeat(7_500).slice(0, -1)],
  ])('%s', (_, asked) => expect(allowed(asked)).toBe(DEFAULT));
});

it('allows only tokens, in at most 1 KB, whatever is asked', () => {
  const piece = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom('authorization', 'x-a', ',', ', ', ' ', '\t', '*', ''),
    },
    fc.string({ unit: 'binary' }),
    fc.string({ minLength: 500, maxLength: 600, unit: fc.constantFrom('a', 'b') }),
  );
  const asked = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  let echoed = 0;
  fc.assert(
    fc.property(asked, (list) => {
      const answer = allowed(list);
      expect(answer.length).toBeLessThanOrEqual(1024);
      const names = answer.split(',').map((name) => name.replace(/^[ \t]+|[ \t]+$/g, ''));
      expect(names.filter((name) => !NAME.test(name))).toEqual([]);
      if (answer !== DEFAULT) {
        expect(answer).toBe(list);
        echoed += 1;
      }
    }),
    { numRuns: 2_000 },
  );
  expect(echoed).toBeGreaterThan(50);
});
