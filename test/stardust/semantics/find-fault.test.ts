/**
 * Where a conflict was decided (docs/protocol.md, D.2), against the errors that the reference gave:
 * their texts name the rule, and the input, output, chain or address.
 */
import { describe, expect, it } from 'vitest';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { findFault } from '../../../src/stardust/semantics/judge.ts';
import type { Fault } from '../../../src/stardust/semantics/verdict.ts';
import { aliasIdOf, foundryId, nftIdOf, outputId } from '../../../src/stardust/wire/ids.ts';
import { type Output, OutputType } from '../../../src/stardust/wire/output.ts';
import { findCondition, UnlockConditionType } from '../../../src/stardust/wire/unlock-condition.ts';
import {
  type ConflictVector,
  readConflicts,
  semanticVectors,
} from '../../support/stardust/semantic-vectors.ts';

const conflicts = await readConflicts();

/** By the reference's text: the rule, and what the groups `input` and `output` name. */
const TEXTS: readonly [rule: string, text: RegExp][] = [
  ['S1', /^timelock not expired: .* input at index (?<outputId>0x\w+)'s timelocks/],
  ['S2.0', /^invalid inputs commitment/],
  ['S2.2', /^unable to retrieve ident to unlock of input (?<input>\d+):/],
  ['S2.4', /: input (?<input>\d+) has a chain constrained address/],
  ['S2.6', /: input (?<input>\d+) has none chain constrained address/],
  ['S2.5', /: input (?<input>\d+) is not unlocked through .* chain constrained address/],
  ['S2.7', /: input (?<input>\d+) is not unlocked through .* direct unlockable address/],
  ['S2.8', /: input (?<input>\d+)'s address is already unlocked/],
  ['S2.9', /^public key and address do not correspond .* input (?<input>\d+)'s address/],
  ['S2.10', /^signature is invalid .* input (?<input>\d+)'s address/],
  ['S3', /^sender feature is not unlocked: output (?<output>\d+)/],
  ['S4.1', /^inputs and outputs do not spend\/deposit the same amount/],
  ['S4.3', /^return amount not fulfilled: .* for (?<address>0x\w+)$/],
  ['S5.1', /invalid input native token set/],
  ['S5.2', /inputs native token count \d+ exceeds max/],
  ['S5.3', /invalid output native token set/],
  ['S5.4', /max native tokens count exceeded: (?!inputs)/],
  ['S5.5', /native token \w+ is less on input/],
  ['S5.6', /native token \w+ is new on the output side/],
  ['S6.1', /^(?:input )?chain (?<inputChain>0x\w+ .*) (?:state|destruction) transition failed/],
  ['S6.2', /^new chain (?<outputChain>0x\w+ .*) state transition failed/],
];

function chainOf(output: Output, id: Uint8Array): string | undefined {
  if (output.type === OutputType.Alias)
    return `${toHex(aliasIdOf(output, id))} (*iotago.AliasOutput)`;
  if (output.type === OutputType.Nft) return `${toHex(nftIdOf(output, id))} (*iotago.NFTOutput)`;
  if (output.type === OutputType.Foundry)
    return `${toHex(foundryId(output))} (*iotago.FoundryOutput)`;
  return undefined;
}

/** What one of the reference's texts names. */
function readError(text: string, { tx, consumed }: ConflictVector): Omit<Fault, 'reason'> {
  const found = TEXTS.filter(([, pattern]) => pattern.test(text));
  expect([text, found.length]).toEqual([text, 1]);
  const [rule, pattern] = found[0]!;
  const groups = pattern.exec(text)!.groups ?? {};
  const { outputs } = tx.value.essence;
  const places: Record<string, () => Partial<Fault>> = {
    input: () => ({ input: Number(groups.input) }),
    output: () => ({ output: Number(groups.output) }),
    outputId: () => ({ input: consumed.findIndex(({ id }) => toHex(id) === groups.outputId) }),
    inputChain: () => ({
      input: consumed.findIndex(({ id, output }) => chainOf(output, id) === groups.inputChain),
    }),
    outputChain: () => ({
      output: outputs.findIndex(
        (output, i) => chainOf(output, outputId(tx.id, i)) === groups.outputChain,
      ),
    }),
    address: () => ({}),
  };
  const [name] = Object.keys(groups);
  return { rule, ...(name !== undefined && places[name]!()) };
}

/** The first of what the texts name: the reference walks some maps in random order. */
function firstOf(faults: readonly Omit<Fault, 'reason'>[]): Omit<Fault, 'reason'> {
  const [first] = faults.toSorted(
    (a, b) => (a.input ?? a.output ?? 0) - (b.input ?? b.output ?? 0),
  );
  return first!;
}

describe('findFault', () => {
  it('has an error of the reference for each of 2,747 conflicts, by every rule of D.2', () => {
    expect(conflicts.length).toBe(2747);
    const rules = conflicts.flatMap((each) => each.errors.map((e) => readError(e, each).rule));
    expect(TEXTS.map(([rule]) => rule).filter((rule) => !rules.includes(rule))).toEqual([]);
  });

  it('names the rule and the place that the reference names', () => {
    const others = conflicts.filter(({ line }) => line.conflict !== 8);
    for (const vector of others) {
      const { line, tx, consumed, errors } = vector;
      const fault = findFault(tx, consumed, line.unixTime);
      const expected = firstOf(errors.map((text) => readError(text, vector)));
      expect({ id: line.transactionId, ...fault }).toEqual({
        id: line.transactionId,
        reason: line.conflict,
        ...expected,
      });
    }
  });

  it('names an input where its own deposit is not returned', () => {
    const counts = { alone: 0, together: 0 };
    for (const vector of conflicts.filter(({ line }) => line.conflict === 8)) {
      const { line, tx, consumed } = vector;
      const fault = findFault(tx, consumed, line.unixTime);
      expect(fault).toMatchObject({ reason: 8, rule: 'S4.3' });
      const candidates = inputsNotReturned(vector);
      expect([line.transactionId, candidates.includes(fault!.input)]).toEqual([
        line.transactionId,
        true,
      ]);
      counts[fault!.input === undefined ? 'together' : 'alone']++;
    }
    expect(Math.min(counts.alone, counts.together)).toBeGreaterThan(0);
  });

  it('finds nothing where the reference applies the transaction', () => {
    const applied = semanticVectors.filter(({ line }) => line.conflict === 0);
    expect(applied.length).toBe(500);
    for (const { line, tx, consumed } of applied)
      expect(findFault(tx, consumed, line.unixTime)).toBeUndefined();
  });
});

/**
 * By the reference's texts, the inputs that alone are owed more than was returned; undefined where
 * only a sum is. An input that its own return address unlocked owes nothing (S4.2), which the texts
 * tell by the sum that they name.
 */
function inputsNotReturned({ consumed, errors }: ConflictVector): (number | undefined)[] {
  const candidates = errors.flatMap((text) => {
    const { due, paid, address } =
      /return amount of (?<due>\d+) not fulfilled as (?:there is no output|output is only (?<paid>\d+)) for (?<address>0x\w+)$/.exec(
        text,
      )!.groups!;
    const owed = consumed.flatMap(({ output }, input) => {
      const condition = findCondition(output, UnlockConditionType.StorageDepositReturn);
      if (condition === undefined) return [];
      const { type, id } = condition.returnAddress;
      const key = `0x${type.toString(16).padStart(2, '0')}${toHex(id).slice(2)}`;
      return key === address ? [{ input, amount: condition.amount }] : [];
    });
    expect(owed.reduce((sum, { amount }) => sum + amount, 0n)).toBeGreaterThanOrEqual(BigInt(due!));
    return owed
      .filter(({ amount }) => paid === undefined || amount > BigInt(paid))
      .map(({ input }) => input);
  });
  return candidates.length === 0 ? [undefined] : candidates;
}
