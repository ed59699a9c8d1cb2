/**
 * Who can unlock an output of an address, now and later, in few words: a row of a list has one line.
 */
import type { Part, Sentence } from '../../client/words/sentence.ts';
import { unlockPeriods } from '../../client/words/unlock.ts';
import { equalBytes } from '../../src/stardust/encoding/bytes.ts';
import type { Address } from '../../src/stardust/wire/address.ts';
import { type Output, OutputType } from '../../src/stardust/wire/output.ts';
import {
  addressIn,
  findCondition,
  UnlockConditionType,
} from '../../src/stardust/wire/unlock-condition.ts';

/**
 * One sentence for what holds the output back, and one for the deposit that it returns; none where
 * the address alone can unlock it, whole. Neither has a tense, so that both are true of a ledger
 * that has ended.
 *
 * @param unixTime seconds, of the ledger's newest milestone
 */
export function describeTenure(
  output: Output,
  address: Address,
  unixTime: number,
): readonly Sentence[] {
  if (output.type === OutputType.Foundry) return [];
  if (output.type === OutputType.Alias) {
    const roles = [
      ['state controller', addressIn(output, UnlockConditionType.StateController)],
      ['governor', addressIn(output, UnlockConditionType.Governor)],
    ] as const;
    const own = roles.filter(([, each]) => isSame(each, address)).map(([role]) => role);
    return [[`This address is its ${own.join(' and its ')}.`]];
  }
  const periods = unlockPeriods(output, unixTime);
  const [first] = periods;
  const isPlain = periods.length === 1 && isSame(first!.owner, address);
  return [...(isPlain ? [] : [describePeriods(periods, address)]), ...describeDue(output, address)];
}

function describePeriods(periods: ReturnType<typeof unlockPeriods>, address: Address): Sentence {
  const parts = periods.flatMap(({ owner }, i): Part[] => {
    const until = periods[i + 1]?.from;
    const who: Part =
      owner === undefined ? 'nobody' : isSame(owner, address) ? 'this address' : { address: owner };
    return [
      i === 0 ? 'Unlocked by ' : ', then by ',
      who,
      ...(until === undefined ? [] : [' until ', { unixTime: until }]),
    ];
  });
  return [...parts, '.'];
}

function describeDue(
  output: { unlockConditions: Output['unlockConditions'] },
  address: Address,
): Sentence[] {
  const due = findCondition(output, UnlockConditionType.StorageDepositReturn);
  if (due === undefined) return [];
  const { amount, returnAddress } = due;
  const whom: Part = isSame(returnAddress, address) ? 'this address' : { address: returnAddress };
  return [['Of it ', { amount }, ' is due to ', whom, ' when it is spent.']];
}

function isSame(a: Address | undefined, b: Address): boolean {
  return a !== undefined && a.type === b.type && equalBytes(a.id, b.id);
}
