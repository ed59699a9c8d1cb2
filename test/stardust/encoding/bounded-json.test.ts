/** JSON of anybody: what is read, and which bounds it has. */
import { describe, expect, it } from 'vitest';
import { parseBoundedJson } from '../../../src/stardust/encoding/bounded-json.ts';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const repeated = (unit: string, count: number) =>
  `[${Array.from({ length: count }, () => unit).join()}]`;

it.each([
  '0',
  '[]',
  '{"a":[1,{"b":"[{,"}],"c":"\\"[[\\\\"}',
  JSON.stringify('[{,'.repeat(400_000)),
  nested(64),
  repeated('0', 499_998),
])('reads what JSON.parse does: %.40s', (text) => {
  expect(parseBoundedJson(text)).toEqual(JSON.parse(text));
});

describe('is refused', () => {
  it.each([
    ['65 levels', nested(65), /64 levels/],
    ['65 levels behind a string', `["\\\\",${nested(64)}]`, /64 levels/],
    ['500,000 zeros', repeated('0', 500_000), /500000 values/],
    ['250,000 empty objects', repeated('{}', 250_001), /500000 values/],
    ['250,000 empty lists', repeated('[]', 250_001), /500000 values/],
    ['no JSON', '{"a":', /JSON/],
    ['a string without its end', '"a', /JSON/],
    ['nothing', '', /JSON/],
  ])('%s', (_, text, message) => {
    expect(() => parseBoundedJson(text)).toThrow(message);
    expect(() => parseBoundedJson(text)).toThrow(SyntaxError);
  });
});
