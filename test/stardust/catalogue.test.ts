/** Every case of protocol.md H has a test that begins with its number, here in catalogue/, or stands in the table below. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const CASES = 124;

/** Cases that the HTTP layer decides: the file with the tests, and what the test there is called. */
const ELSEWHERE: { case: number; file: string; named: string[] }[] = [
  {
    // E.3 (a)
    case: 108,
    file: 'support/http/contract.ts',
    named: [
      'the first milestone with a previous one',
      'a later milestone with previousMilestoneId',
    ],
  },
  {
    // E.3 (b): the previous milestone is in the ledger, so that its timestamp and index are known before the walk
    case: 109,
    file: 'support/http/contract.ts',
    named: ['a timestamp that is not raised', 'a milestone too far ahead'],
  },
  // 404 and 400 by our contract, where the reference has 503 and 400
  {
    case: 116,
    file: 'support/http/contract.ts',
    named: ['a milestone too far ahead', 'parents ${JSON.stringify(parents)'],
  },
  // 400 by our contract: the reference pads and cuts
  {
    case: 117,
    file: 'support/http/contract.ts',
    named: ['[parent.slice(0, -1)]', '[parent.slice(2)]', "['']"],
  },
  {
    case: 118,
    file: 'support/http/contract.ts',
    named: ["['0x', parent.slice(2)", "[undefined, null, '', ZERO_ID]"],
  },
];

const folder = join(import.meta.dirname, 'catalogue');
const tests = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('');

describe('the catalogue', () => {
  it('has a test for every case, or says where it is', () => {
    const numbers = Array.from(tests.matchAll(/\bit\('H-(\d+) /g), ([, number]) => Number(number));
    const all = [...numbers, ...ELSEWHERE.map((each) => each.case)].sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: CASES }, (_, i) => i + 1));
  });

  it.each(ELSEWHERE)('case $case is in $file', ({ file, named }) => {
    const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
    for (const name of named) expect(text).toContain(name);
  });
});
