/**
 * A statement of an address in words: what it adds up to, output by output, and what it leaves open.
 */
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import {
  formatTime,
  STATEMENT_LIMIT,
  STATEMENT_PARTS,
  type StatedOutput,
  type Statement,
  type StatementPart,
  type StatementSum,
} from '../../src/stardust/provenance/statement.ts';
import { formatAmount } from './amounts.ts';
import { describeHolding, describeTokens, type FinalWords, writeAddress } from './holding.ts';

/** What stands before the sum of a part. */
const PART_WORDS: Readonly<Record<StatementPart, string>> = {
  own: 'Its own',
  untilExpiration: 'Its own until they expire',
  fromExpiration: 'Its own once they have expired',
  governed: 'Aliases that it governs, and another address controls',
  depositReturn: 'Deposits that others must return to it',
};

export function nameStatement({ address, ledger, outputs }: Statement, words: FinalWords): string {
  const { networkName, milestoneIndex } = ledger;
  const held = `${countOf(outputs.length)} that ${writeAddress(address, words)} can unlock, now or later`;
  return `When ${networkName} ended, at milestone ${milestoneIndex}, its ledger had ${held}.`;
}

/** For each part that has outputs: what they add up to, and each native token. */
export function describeSums({ totals }: Statement, words: FinalWords): string[] {
  return STATEMENT_PARTS.filter((part) => totals[part].outputs > 0).flatMap((part) =>
    describeSum(totals[part], words).map((each) => `${PART_WORDS[part]}: ${each}.`),
  );
}

/** "2 outputs with 1.5 SMR, of which 0.1 SMR must be returned to others" */
function describeSum(sum: StatementSum, { baseToken }: FinalWords): string[] {
  const amount = (value: bigint) => formatAmount(value, baseToken);
  const { depositReturn, timelocked, nativeTokens } = sum;
  const parts = [
    `${countOf(sum.outputs)} with ${amount(sum.amount)}`,
    ...(depositReturn > 0n ? [`of which ${amount(depositReturn)} must be returned to others`] : []),
    ...(timelocked > 0n ? [`${amount(timelocked)} of it under a timelock, over or not`] : []),
  ];
  const tokens = [...nativeTokens].map(([id, held]) => ({ id: fromHex(`0x${id}`), amount: held }));
  return [parts.join(', '), ...describeTokens(tokens)];
}

/** A title, and sentences. */
export function describeStated(stated: StatedOutput, words: FinalWords) {
  const id = toHex(stated.outputId);
  const { output, bookedIndex, bookedTimestamp } = stated;
  const since =
    bookedIndex === 0
      ? 'since the network began'
      : `since ${formatTime(bookedTimestamp)} UTC, milestone ${bookedIndex}`;
  return {
    title: `Output ${id}, ${since}`,
    sentences: describeHolding({ id, output, bookedTimestamp }, words),
  };
}

/** What nobody proves: whether all of it is there. */
export function describeLimit({ after, next }: Statement): string[] {
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
