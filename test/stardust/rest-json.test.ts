/**
 * Blocks, outputs and milestones in REST JSON, against what the reference prints (parsing.jsonl)
 * and serves (network-a).
 */
import { describe, expect, it } from 'vitest';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { blockToJson } from '../../src/stardust/json/rest-json.ts';
import { parseBlock } from '../../src/stardust/wire/block.ts';
import { readLines } from '../support/vectors.ts';

interface Line {
  name: string;
  block: string;
  valid: boolean;
  json?: unknown;
}

describe('blockToJson', () => {
  const valid = (readLines('parsing.jsonl') as Line[]).filter((line) => line.valid);

  it('has 450 valid blocks', () => expect(valid.length).toBe(450));

  it.each(valid)('$name', ({ block, json }) => {
    const result = parseBlock(fromHex(block));
    if (!result.ok) throw new Error(result.reason);
    expect(blockToJson(result.parsed.block)).toEqual(json);
    // the fields come in the same order too
    expect(JSON.stringify(blockToJson(result.parsed.block))).toBe(JSON.stringify(json));
  });
});
