/**
 * Generated transactions, blocks and signatures with the verdicts of the reference's own code: the
 * vectors second-reader.jsonl.
 *
 * A generator made transactions that are almost right: owners that own each other, locks that end
 * in that very second, counters off by one, foundries out of order, signatures that only ZIP-215
 * accepts. They were changed, then signed, then judged by iota.go v3.0.0-rc.3 as HORNET 2.0.1 uses
 * it. A few of each outcome were kept. The format is in test/vectors/README.md#single-rules.
 */
import { describe, expect, it } from 'vitest';
import { README_PARAMETERS } from '../../cli/conformance/parameters.ts';
import { runVector } from '../../cli/conformance/run-vector.ts';
import { basic } from '../support/payloads/outputs.ts';
import { admitted, alice } from '../support/stardust/syntactic.ts';
import { readLines } from '../support/vectors.ts';

const VECTORS = 4750;
const STEP = process.env.SLOW ? 1 : 5;

describe('the generated vectors (second-reader.jsonl)', () => {
  it(`are ${VECTORS}, of which each in ${STEP} passes`, async () => {
    const vectors = readLines('second-reader.jsonl');
    expect(vectors.length).toBe(VECTORS);
    const failures: string[] = [];
    for (const [i, vector] of vectors.entries()) {
      if (i % STEP !== 0) continue;
      const { name, failure } = await runVector(JSON.stringify(vector), README_PARAMETERS);
      if (failure !== undefined) failures.push(`${name}: ${failure}`);
    }
    expect(failures).toEqual([]);
  });
});

describe('C-16', () => {
  const rentStructure = { vByteCost: 0, vByteFactorData: 1, vByteFactorKey: 10 };
  /** Which rule a transaction with these amounts breaks, where storage costs nothing. */
  const broken = (tokenSupply: bigint, amounts: readonly bigint[]) => {
    const outputs = amounts.map((amount) => basic(alice, { amount }));
    return admitted(outputs, { rentStructure, tokenSupply });
  };

  it('adds in uint64, as the reference does: under a supply of 2^63 or more the sum wraps', () => {
    const half = 1n << 63n;
    // in the reference: `sum+deposit > protoParas.TokenSupply`, both uint64
    expect(broken((1n << 64n) - 1n, [half, half, 5n])).toBeUndefined();
    expect(broken(half, [half, half])).toBeUndefined();
    expect(broken(half, [half, 1n])).toBe('C-16');
  });

  it('refuses every sum over a supply below 2^63', () => {
    const supply = (1n << 63n) - 1n;
    expect(broken(supply, [supply])).toBeUndefined();
    expect(broken(supply, [supply, 1n])).toBe('C-16');
    expect(broken(supply, [supply, supply])).toBe('C-16');
    expect(broken(supply, [supply, supply, 2n])).toBe('C-16');
  });
});
