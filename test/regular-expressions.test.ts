/**
 * Every regular expression of what runs over data of others takes linear time on every text: each is
 * read from the sources, so that a new one is among them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ts } from '@ts-morph/common';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../cli/lib/project.ts';
import { superlinear } from './support/regex-growth.ts';

const FOLDERS = ['src', 'client', 'explorer', 'cli'];

/** Those that are put together, with what they are made of. */
const MADE: Readonly<Record<string, readonly RegExp[]>> = {
  'src/http/answer.ts': [
    /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/,
  ],
  'src/ledger/import/staging-tables.ts': [/^CREATE TABLE "?unspent"?(?=\W)/],
  'src/platform/json-schemas.ts': [/^0[xX][0-9a-fA-F]{64}$/],
};

interface Found {
  place: string;
  expression: RegExp;
}

function readAll(): { found: Found[]; made: string[] } {
  const found: Found[] = [];
  const made: string[] = [];
  for (const folder of FOLDERS)
    for (const name of readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })) {
      const file = `${folder}/${name}`;
      if (!/\.(?:tsx?|js)$/.test(name)) continue;
      const text = readFileSync(join(PROJECT, file), 'utf8');
      const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
      const visit = (node: ts.Node): void => {
        if (ts.isRegularExpressionLiteral(node)) {
          const end = node.text.lastIndexOf('/');
          const expression = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
          const { line } = source.getLineAndCharacterOfPosition(node.getStart());
          found.push({ place: `${file}:${line + 1}`, expression });
        }
        if (
          (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
          node.expression.getText() === 'RegExp'
        )
          made.push(file);
        ts.forEachChild(node, visit);
      };
      visit(source);
    }
  return { found, made };
}

const { found, made } = readAll();

describe('regular expressions', () => {
  it('of all sources are linear', () => {
    expect(found.length).toBeGreaterThan(100);
    const slow = found.flatMap(({ place, expression }) => {
      const fault = superlinear(expression);
      return fault === undefined ? [] : [`${place} ${expression}: ${fault}`];
    });
    expect(slow).toEqual([]);
  });

  it('that are put together are known here, and linear', () => {
    expect(made.sort()).toEqual(Object.keys(MADE).sort());
    for (const each of Object.values(MADE).flat())
      expect([each.source, superlinear(each)]).toEqual([each.source, undefined]);
  });
});

describe('the judge of regular expressions', () => {
  it.each([
    // of base64.ts, before
    /^[A-Za-z0-9+/\s]*={0,2}\s*$/,
    /\/+$/,
    /\s+$/,
    /^\s+|\s+$/g,
    /(a+)+$/,
    /^(?:a|a)*$/,
    /^(?:a|ab|b)*$/,
    /^(\w+\s?)*$/,
    /^.*:.*:.*$/,
    /<!--.*?-->/gs,
    /\B(?=(\d{3})+$)/g,
    /^[^:]*\s*:/,
    /a*b/,
    /^\d+\d+$/,
    /^(?:x*y*)*z/,
  ])('finds %s', (expression) => {
    expect(superlinear(expression)).toBeDefined();
  });

  it.each([
    /^0x[0-9a-f]{64}$/,
    /^[A-Za-z0-9+/]*={0,2}$/,
    /^(?:[0-9a-fA-F]{2})*$/,
    /[\p{Cc}\p{Cf}]/gu,
    /\d+/,
    /[\s,]+/,
    /(?<!\n)\n(?!\n)/g,
    /^[a-z]+(?:-[a-z]+)*$/,
    /^https?:/,
    /^[^/]*\/.*$/,
    /^"(?:[^"\\]|\\.)*"$/,
  ])('takes %s', (expression) => {
    expect(superlinear(expression)).toBe(undefined);
  });
});
