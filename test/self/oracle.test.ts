/**
 * The oracle against the white-flag computations of the reference's own test suite
 * (test/vectors/README.md#white-flag-computations).
 */
import { expect, it } from 'vitest';
import { runWhiteFlag } from '../../scripts/conformance/white-flag.ts';
import { oracleWhiteFlag } from '../support/oracle/product-and-oracle.ts';
import { readLines } from '../support/vectors.ts';

const lines = readLines('hornet-suite.jsonl') as Record<string, unknown>[];

it('agrees with all 74 white-flag computations of hornet-suite.jsonl', async () => {
  expect(lines.length).toBe(74);
  for (const line of lines) expect(await runWhiteFlag(line, oracleWhiteFlag)).toBe(undefined);
});
