/**
 * Verdicts on single transactions (docs/protocol.md, D.2 and D.3) against those of the reference.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { judgeAt, judgeOverTime } from '../../../src/stardust/semantics/judge.ts';
import { ConflictReason, type VerdictStep } from '../../../src/stardust/semantics/verdict.ts';
import type { Address } from '../../../src/stardust/wire/address.ts';
import { inputsCommitment, outputBytes } from '../../../src/stardust/wire/ids.ts';
import { type Output, OutputType } from '../../../src/stardust/wire/output.ts';
import { checkTransaction } from '../../../src/stardust/wire/syntax.ts';
import {
  findCondition,
  type UnlockCondition,
  UnlockConditionType,
} from '../../../src/stardust/wire/unlock-condition.ts';
import { type SemanticVector, semanticVectors } from '../../support/stardust/semantic-vectors.ts';

describe('judge', () => {
  it('has 1,500 vectors, a third of them without conflict, and every reason that it can give', () => {
    expect(semanticVectors.length).toBe(1500);
    expect(semanticVectors.filter(({ line }) => line.conflict === ConflictReason.None).length).toBe(
      500,
    );
    const reasons = new Set(semanticVectors.map(({ line }) => line.conflict));
    expect([...reasons].sort((a, b) => a - b)).toEqual([0, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it('gives the verdict of every vector', () => {
    for (const { line, tx, consumed } of semanticVectors) {
      expect(() => checkTransaction(tx.value), line.name).not.toThrow();
      const made = { id: toHex(tx.id), conflict: judgeAt(tx, consumed, line.unixTime) };
      expect(made, line.name).toEqual({ id: line.transactionId, conflict: line.conflict });
    }
  });
});

/**
 * Every timestamp at which a verdict may change, with the second before and after it, and both ends
 * of uint32.
 */
function times({ consumed }: SemanticVector): number[] {
  const edges = consumed.flatMap(({ output }) =>
    [UnlockConditionType.Timelock, UnlockConditionType.Expiration].flatMap((type) => {
      const unixTime = findCondition(output, type)?.unixTime;
      return unixTime === undefined ? [] : [unixTime - 1, unixTime, unixTime + 1];
    }),
  );
  return [0, 0xffffffff, ...edges];
}

function reasonAt(steps: readonly VerdictStep[], unixTime: number): number | undefined {
  return steps.findLast(({ from }) => from <= unixTime)?.reason;
}

function expectAgreement(vector: SemanticVector): VerdictStep[] {
  const steps = judgeOverTime(vector.tx, vector.consumed);
  for (const unixTime of [vector.line.unixTime, ...times(vector)]) {
    expect(reasonAt(steps, unixTime)).toBe(judgeAt(vector.tx, vector.consumed, unixTime));
  }
  // from 0, ascending, no two neighbours with one reason
  expect(steps[0]?.from).toBe(0);
  steps.slice(1).forEach((step, i) => {
    expect(step.from).toBeGreaterThan(steps[i]!.from);
    expect(step.reason).not.toBe(steps[i]!.reason);
  });
  return steps;
}

describe('judgeOverTime', () => {
  it('agrees with judge around every breakpoint of every vector', () => {
    const counts = semanticVectors.map((vector) => expectAgreement(vector).length);
    // vectors whose verdict depends on time
    expect(counts.filter((count) => count > 1).length).toBeGreaterThan(100);
  });

  it('agrees with judge on inputs that were given more timelocks and expirations', {
    timeout: 900_000,
  }, () => {
    const vector = fc.nat(semanticVectors.length - 1).map((i) => semanticVectors[i]!);
    const times = fc.array(fc.record({ lock: fc.nat(6), expiry: fc.nat(6), back: fc.nat() }), {
      minLength: 8,
      maxLength: 8,
    });
    fc.assert(
      fc.property(vector, times, (vector, times) => {
        expectAgreement(withTimes(vector, times));
      }),
      { numRuns: 200 },
    );
  });
});

/**
 * The vector with time conditions at seconds 0 (none) to 6 added to its inputs, and the inputs
 * commitment made to fit. Whether a signature is valid is left as it was.
 */
function withTimes(
  { line, tx, consumed }: SemanticVector,
  times: readonly { lock: number; expiry: number; back: number }[],
): SemanticVector {
  const addresses = consumed.flatMap(({ output }) => output.unlockConditions.flatMap(addressesIn));
  const changed = consumed.map((each, i) => {
    const { lock, expiry, back } = times[i % times.length]!;
    const returnAddress = addresses[back % addresses.length]!;
    const output = withConditions(each.output, [
      ...(lock === 0 ? [] : [{ type: UnlockConditionType.Timelock, unixTime: lock }]),
      ...(expiry === 0
        ? []
        : [{ type: UnlockConditionType.Expiration, unixTime: expiry, returnAddress }]),
    ]);
    return { id: each.id, bytes: outputBytes(output), output };
  });
  const commitment = inputsCommitment(changed);
  const value = { ...tx.value, essence: { ...tx.value.essence, inputsCommitment: commitment } };
  return { line, tx: { ...tx, value }, consumed: changed };
}

function addressesIn(condition: UnlockCondition): Address[] {
  if ('address' in condition) return [condition.address];
  return 'returnAddress' in condition ? [condition.returnAddress] : [];
}

function withConditions(output: Output, added: readonly UnlockCondition[]): Output {
  if (output.type !== OutputType.Basic && output.type !== OutputType.Nft) return output;
  const types = new Set(added.map(({ type }) => type));
  const kept = output.unlockConditions.filter(({ type }) => !types.has(type));
  return { ...output, unlockConditions: [...kept, ...added].sort((a, b) => a.type - b.type) };
}
