/**
 * What neither a network nor the catalogue can show: sums at their limits, and mistakes of a
 * caller.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeAt, judgeOverTime } from '../../../src/stardust/semantics/judge.ts';
import { verifySignatures } from '../../../src/stardust/semantics/signatures.ts';
import {
  ConflictReason,
  conflictReasonOf,
  describeReason,
  rulesOf,
} from '../../../src/stardust/semantics/verdict.ts';
import { UnlockType } from '../../../src/stardust/wire/unlock.ts';
import { keyPair } from '../../support/payloads/keys.ts';
import { basic, depositReturn, idOf, timelock, tokens } from '../../support/payloads/outputs.ts';
import { judged, referTo, verdict } from '../../support/payloads/transactions.ts';

const alice = keyPair('alice');
const bob = keyPair('bob');

describe('sums', () => {
  it('S4.1 base tokens are added in uint64', () => {
    const half = { output: basic(alice, { amount: 2n ** 63n }), unlock: referTo(0) };
    const inputs = [{ output: basic(alice, { amount: 5n }), unlock: alice }, half, half];
    expect(verdict({ inputs, outputs: [basic(alice, { amount: 5n })] })).toBe(ConflictReason.None);
    expect(verdict({ inputs, outputs: [basic(alice, { amount: 6n })] })).toBe(
      ConflictReason.InputOutputSumMismatch,
    );
  });

  it('S4.2 storage deposits due are added in uint64', () => {
    const lent = (amount: bigint) => basic(alice, { conditions: [depositReturn(bob, amount)] });
    const inputs = [
      { output: lent(2n ** 64n - 1n), unlock: alice },
      { output: lent(1n), unlock: referTo(0) },
    ];
    const outputs = [basic(alice, { amount: 1_999_999n }), basic(bob, { amount: 1n })];
    expect(verdict({ inputs, outputs })).toBe(ConflictReason.None);
  });

  it('S5.1 a native token of amount 0 is refused', () => {
    const inputs = [
      { output: basic(alice, { tokens: [tokens(idOf('alias'), 0n)] }), unlock: alice },
    ];
    expect(verdict({ inputs, outputs: [basic(alice)] })).toBe(ConflictReason.InvalidNativeTokens);
  });
});

describe('judge', () => {
  const { tx, consumed } = judged({
    inputs: [
      { output: basic(alice, { conditions: [timelock(0xffffffff)] }), unlock: alice },
      { output: basic(bob), unlock: bob },
    ],
    outputs: [basic(alice, { amount: 2_000_000n })],
  });

  it('takes the consumed outputs in the order of the inputs, and no others', () => {
    for (const wrong of [
      [],
      consumed.slice(1),
      consumed.toReversed(),
      [...consumed, consumed[0]!],
    ]) {
      expect(() => judgeAt(tx, wrong, 1000)).toThrow(/not those that the transaction consumes/);
    }
  });

  it('judges at the last second of uint32', () => {
    expect(judgeOverTime(tx, consumed)).toEqual([
      { from: 0, reason: ConflictReason.TimelockNotExpired },
      { from: 0xffffffff, reason: ConflictReason.None },
    ]);
  });

  it('takes the results of signatures as given, and verifies only signature unlocks', async () => {
    const late = 0xffffffff;
    expect(judgeAt({ ...tx, validSignatures: [true, false] }, consumed, late)).toBe(
      ConflictReason.InvalidSignature,
    );
    const asked: Uint8Array[] = [];
    const value = { ...tx.value, unlocks: [tx.value.unlocks[0]!, referTo(0)] };
    const verified = await verifySignatures(
      { value, signedDigest: tx.signedDigest },
      async (publicKey, message) => {
        asked.push(publicKey, message);
        return true;
      },
    );
    expect(verified).toEqual([true, false]);
    const [unlock] = value.unlocks;
    expect(asked).toEqual([
      unlock?.type === UnlockType.Signature && unlock.signature.publicKey,
      tx.signedDigest,
    ]);
  });

  it('verifies no signature behind an invalid one', async () => {
    const unlocks = Array.from({ length: 128 }, () => tx.value.unlocks[0]!);
    let asked = 0;
    const value = { ...tx.value, unlocks };
    const verified = await verifySignatures({ ...tx, value }, async () => ++asked < 2);
    expect([verified, asked]).toEqual([[true, false], 2]);
  });
});

it('D.0 every reason has its number and words of its own', () => {
  const reasons = Object.values(ConflictReason);
  expect(reasons).toEqual(Array.from({ length: 13 }, (_, i) => i));
  expect(new Set(reasons.map(describeReason)).size).toBe(13);
  expect(reasons.map(conflictReasonOf)).toEqual(reasons);
  expect(() => conflictReasonOf(13)).toThrow(RangeError);
});

it('D.0 each reason has its rules in docs/protocol.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/protocol.md'), 'utf8');
  const table = text.slice(text.indexOf('### D.0'), text.indexOf('### D.1'));
  const rows = [...table.matchAll(/^- (\d+) \(([^)]*)\)/gm)].filter(
    ([, code]) => Number(code) >= 1 && Number(code) <= 12,
  );
  expect(rows).toHaveLength(12);
  for (const [, code, rules] of rows) {
    expect([code, rulesOf(conflictReasonOf(Number(code)))]).toEqual([code, rules]);
  }
});
