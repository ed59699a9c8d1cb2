/**
 * A statement of an address in words: what it shows, what that adds up to, output by output, and what
 * it does not show. The words are made of what was proved and of nothing else, so each is as good as
 * its proof.
 *
 * No root has the time at which the network ended. The latest time at which an output of the file was
 * booked is proved, and the ledger is of that time or later: what had expired by then had expired.
 */
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import {
  formatTime,
  type Proved,
  provedValue,
  STATEMENT_LIMIT,
  type StatedOutput,
  type Statement,
  tell,
} from '../../src/stardust/provenance/statement.ts';
import { ownerAt } from '../../src/stardust/semantics/owner.ts';
import { type AddressKey, addressKey } from '../../src/stardust/wire/address.ts';
import { OutputType } from '../../src/stardust/wire/output.ts';
import { findCondition, UnlockConditionType } from '../../src/stardust/wire/unlock-condition.ts';
import { formatAmount } from './amounts.ts';
import { describeHolding, describeTokens, finalWords, writeAddress } from './holding.ts';

/** What an output is to the address, by what is proved: each output is in one group. */
const GROUPS = {
  own: 'Its own',
  until: 'Its own until dates that they name, then of others',
  from: 'Of others until dates that they name, then its own',
  governed: 'Aliases that it governs, and another address controls',
  due: 'Of others, who owe it a deposit when they spend them',
  expired: 'Of others, to whom they had expired when the network ended',
} as const;

type Group = keyof typeof GROUPS;

export interface StatementWords {
  headline: Proved<string>;
  /** What the headline does not say, to be read beside it: a sentence. */
  notShown: string;
  /** What each group adds up to. Each base token is in one of them, and in one line. */
  sums: readonly Proved<string>[];
  outputs: readonly { title: Proved<string>; sentences: readonly Proved<string>[] }[];
  /** What nobody proves: sentences. */
  limits: readonly string[];
}

export function describeProvedStatement(proof: Proved<Statement>): StatementWords {
  const statement = provedValue(proof);
  const { address, ledger, outputs, prefix } = statement;
  const words = finalWords(ledger.networkName, prefix);
  const say = (text: string) => tell(proof, () => text);
  const name = writeAddress(address, words);
  const shown = `${countOf(outputs.length)} that name${outputs.length === 1 ? 's' : ''} ${name}`;
  const end = `the ledger with which ${ledger.networkName} ended, at milestone ${ledger.milestoneIndex}`;
  return {
    headline: say(`This file shows ${shown}, unspent in ${end}.`),
    notShown: 'It does not show whether there were others, which its maker may have left out.',
    sums: describeSums(statement, words).map(say),
    outputs: outputs.map((stated, place) => ({
      title: say(nameStated(stated)),
      sentences: describeHolding(
        proof,
        (value) => {
          const { outputId, output, bookedTimestamp } = value.outputs[place]!;
          return { id: toHex(outputId), output, bookedTimestamp };
        },
        words,
      ),
    })),
    limits: describeLimits(statement),
  };
}

/** @param time up to which the file proves that the ledger went on */
function groupOf({ output, part }: StatedOutput, key: AddressKey, time: number): Group {
  if (output.type === OutputType.Alias || output.type === OutputType.Foundry)
    return part === 'governed' ? 'governed' : 'own';
  const { address, passesTo } = ownerAt(output, time);
  const passes = passesTo && addressKey(passesTo.address);
  if (addressKey(address) === key) return passes === undefined || passes === key ? 'own' : 'until';
  if (passes === key) return 'from';
  return depositOf(output)?.to === key ? 'due' : 'expired';
}

/** The deposit that whoever spends the output must return, and to whom. */
function depositOf(output: StatedOutput['output']) {
  const condition = findCondition(output, UnlockConditionType.StorageDepositReturn);
  return condition && { amount: condition.amount, to: addressKey(condition.returnAddress) };
}

type Words = ReturnType<typeof finalWords>;

function describeSums({ address, outputs }: Statement, words: Words): string[] {
  const key = addressKey(address);
  const time = outputs.reduce((last, { bookedTimestamp }) => Math.max(last, bookedTimestamp), 0);
  const groups = outputs.map((each) => groupOf(each, key, time));
  const sums = (Object.keys(GROUPS) as Group[]).flatMap((group) => {
    const own = outputs.filter((_, i) => groups[i] === group);
    const sentences = describeGroup(group, own, key, time, words);
    return sentences.map((each) => `${GROUPS[group]}: ${each}.`);
  });
  if (!groups.includes('until') && !groups.includes('from')) return sums;
  const moment = `${formatTime(time)} UTC`;
  return [
    ...sums,
    `The network ended at ${moment} or later, so dates after that may have come before its end.`,
  ];
}

/** "2 outputs with 1.5 SMR, and 0.1 SMR on them that is due to others", and each native token. */
function describeGroup(
  group: Group,
  outputs: readonly StatedOutput[],
  key: AddressKey,
  time: number,
  { baseToken }: Words,
): string[] {
  if (outputs.length === 0) return [];
  let [amount, due, locked] = [0n, 0n, 0n];
  const tokens = new Map<string, bigint>();
  for (const { output } of outputs) {
    const deposit = depositOf(output);
    // S4.2: to whoever spends it nothing is returned
    const spender = group === 'expired' ? addressKey(ownerAt(output, time).address) : key;
    const owed = deposit === undefined || deposit.to === spender ? 0n : deposit.amount;
    const own = group === 'due' ? deposit!.amount : output.amount - owed;
    amount += own;
    due += owed;
    const timelock = findCondition(output, UnlockConditionType.Timelock);
    if (timelock !== undefined && timelock.unixTime > time) locked += own;
    if (group === 'due') continue;
    for (const { id, amount: held } of output.nativeTokens)
      tokens.set(toHex(id), (tokens.get(toHex(id)) ?? 0n) + held);
  }
  const write = (value: bigint) => formatAmount(value, baseToken);
  const parts = [
    `${countOf(outputs.length)} with ${write(amount)}${group === 'due' ? ' due to it' : ''}`,
    ...(locked > 0n
      ? [`of which ${write(locked)} under a timelock until dates that they name`]
      : []),
    ...(due > 0n ? [`and beside that ${write(due)} due to others when they are spent`] : []),
  ];
  const held = [...tokens].map(([id, each]) => ({ id: fromHex(id), amount: each }));
  return [parts.join(', '), ...describeTokens(held)];
}

function nameStated({ outputId, bookedIndex, bookedTimestamp }: StatedOutput): string {
  const since =
    bookedIndex === 0
      ? 'since the network began'
      : `since ${formatTime(bookedTimestamp)} UTC, milestone ${bookedIndex}`;
  return `Output ${toHex(outputId)}, ${since}`;
}

function describeLimits({ after, next }: Statement): string[] {
  const missing = [
    ...(after === undefined ? [] : ['pages come before these']),
    ...(next === undefined ? [] : ['more pages follow']),
  ];
  const pages =
    missing.length === 0
      ? 'Its maker says that no page is missing.'
      : `It is a part: ${missing.join(', and ')}.`;
  return [pages, STATEMENT_LIMIT];
}

function countOf(outputs: number): string {
  return `${outputs.toLocaleString('en')} output${outputs === 1 ? '' : 's'}`;
}
