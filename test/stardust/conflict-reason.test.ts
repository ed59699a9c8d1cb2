/** Conflict reasons name the rules that docs/protocol.md names, D.0. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { conflictReasonOf, rulesOf } from '../../src/stardust/semantics/conflict-reason.ts';

it('each reason has the rules of the table', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/protocol.md'), 'utf8');
  const table = text.slice(text.indexOf('### D.0'), text.indexOf('### D.1'));
  const rows = [...table.matchAll(/^\| (\d+) \|[^|]*\| ([^|]*) \|/gm)].filter(
    ([, code]) => Number(code) >= 1 && Number(code) <= 12,
  );
  expect(rows).toHaveLength(12);
  for (const [, code, rules] of rows) {
    expect([code, rulesOf(conflictReasonOf(Number(code)))]).toEqual([code, rules]);
  }
});
