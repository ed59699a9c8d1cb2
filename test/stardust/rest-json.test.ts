/**
 * Blocks, outputs and milestones in REST JSON, against what the reference prints (parsing.jsonl)
 * and serves (network-a).
 */
import { expect, it } from 'vitest';
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

it('blockToJson prints 450 valid blocks as the reference does', () => {
  const valid = (readLines('parsing.jsonl') as Line[]).filter((line) => line.valid);
  expect(valid.length).toBe(450);
  for (const { name, block, json } of valid) {
    const result = parseBlock(fromHex(block));
    if (!result.ok) throw new Error(`${name}: ${result.reason}`);
    // the fields come in the same order too
    expect([name, JSON.stringify(blockToJson(result.parsed.block))]).toEqual([
      name,
      JSON.stringify(json),
    ]);
  }
});
