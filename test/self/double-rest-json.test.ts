/**
 * JSON of blocks: the text of every valid line of parsing.jsonl, which the reference wrote.
 */
import { describe, expect, it } from 'vitest';
import { parseBlock } from '../../src/stardust/block.ts';
import { fromHex } from '../../src/stardust/bytes.ts';
import { blockJson, type Json } from '../support/hornet-double/double-rest-json.ts';
import { readLines } from '../support/vectors.ts';

describe('blockJson', () => {
  const lines = readLines('parsing.jsonl') as {
    name: string;
    block: string;
    valid: boolean;
    json?: Json;
  }[];

  it('writes what the reference writes', () => {
    const valid = lines.filter(({ json }) => json !== undefined);
    expect(valid.length).toBeGreaterThan(400);
    for (const { name, block, json } of valid) {
      const result = parseBlock(fromHex(block));
      if (!result.ok) throw new Error(`${name}: ${result.reason}`);
      expect(JSON.stringify(blockJson(result.parsed.block)), name).toBe(JSON.stringify(json));
    }
  });
});
