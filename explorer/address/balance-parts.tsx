/** The balance of an address: its parts as a bar and in words. */
import type { Balance, Tenure } from '../../client/balance.ts';
import { formatAmount } from '../../client/words/amounts.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { OutputType } from '../../src/stardust/wire/output.ts';
import {
  findCondition,
  type UnlockCondition,
  UnlockConditionType,
} from '../../src/stardust/wire/unlock-condition.ts';
import { plural } from '../format.ts';
import type { ListedOutput } from '../node/lists.ts';
import { type Info, saysEnded } from '../node/shapes.ts';

type PartName = 'available' | 'deposit' | 'locked' | 'claimable' | 'pending' | 'returns';

interface BalancePart {
  name: PartName;
  title: string;
  amount: bigint;
  words: string;
}

/** Those with an amount; what can be spent always. */
export function BalanceParts({
  balance,
  tenures,
  info,
}: {
  balance: Balance;
  tenures: ReadonlyMap<Tenure, readonly ListedOutput[]>;
  info: Info;
}) {
  const parts = partsOf(balance, tenures, saysEnded(info)).filter(
    ({ name, amount }) => name === 'available' || amount > 0n,
  );
  return (
    <>
      <p class="total">{formatAmount(balance.total, info.baseToken)}</p>
      {parts.length > 1 && (
        <p class="hint">
          What is available and what is held as deposit, as wallets of iota-sdk count it.
        </p>
      )}
      <Bar parts={parts} />
      <dl class="parts">
        {parts.map(({ name, title, amount, words }) => (
          <div key={name}>
            <dt>
              <Swatch name={name} />
              {title}
            </dt>
            <dd>
              <span class="amount">{formatAmount(amount, info.baseToken)}</span>
              <span class="hint">{words}</span>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function partsOf(
  { available, deposit, locked, claimable, pending, returns, counts, chains, tokens }: Balance,
  tenures: ReadonlyMap<Tenure, readonly ListedOutput[]>,
  isOver: boolean,
): readonly BalancePart[] {
  const timesOf = (tenure: Tenure, type: 'timelock' | 'expiration') =>
    (tenures.get(tenure) ?? []).flatMap(({ output }) => timeOf(output, type)).sort(byNumber);
  const hasTokens = [...tokens.values()].some(({ own }) => own > 0n);
  const kept = [
    ...KINDS.map(([kind, noun]) => [chains.filter((each) => each.kind === kind).length, noun]),
  ]
    .filter(([count]) => Number(count) > 0)
    .map(([count, noun]) => plural(Number(count), String(noun)));
  const holders = [...kept, ...(hasTokens ? ['native tokens'] : [])];
  const last = timesOf('locked', 'timelock').at(-1);
  const [firstEnd] = timesOf('claimable', 'expiration');
  return [
    {
      name: 'available',
      title: 'Available',
      amount: available,
      words: isOver
        ? 'It could be spent at any time when the network ended.'
        : 'It can be spent at any time.',
    },
    {
      name: 'deposit',
      title: 'Held as deposit',
      amount: deposit,
      words: `The least that ${listed(holders)} must hold.`,
    },
    {
      name: 'locked',
      title: 'Locked by time',
      amount: locked,
      words: `In ${plural(counts.locked, 'output')}, ${counts.locked === 1 ? '' : 'the last one '}until ${timeText(last)}.`,
    },
    {
      name: 'claimable',
      title: 'To be claimed',
      amount: claimable,
      words: `In ${plural(counts.claimable, 'output')} that this address ${isOver ? 'could' : 'can'} claim, ${counts.claimable === 1 ? '' : 'the first one '}before ${timeText(firstEnd)}.`,
    },
    {
      name: 'pending',
      title: 'Pending to others',
      amount: pending,
      words: `In ${plural(counts.pending, 'output')} that others ${isOver ? 'could' : 'can'} claim first, or that this address would have for a time.`,
    },
    {
      name: 'returns',
      title: 'To be returned',
      amount: returns,
      words: `Deposits in ${plural(counts.returns, 'output')} of others, due when ${counts.returns === 1 ? 'it is' : 'they are'} spent.`,
    },
  ];
}

const KINDS = [
  ['nft', 'NFT'],
  ['alias', 'alias'],
  ['foundry', 'foundry'],
] as const;

const byNumber = (a: number, b: number) => a - b;

const timeText = (time: number | undefined) =>
  time === undefined ? 'then' : `${formatTime(time)} UTC`;

function timeOf(
  output: { type: number; unlockConditions: readonly UnlockCondition[] },
  type: 'timelock' | 'expiration',
): number[] {
  if (output.type !== OutputType.Basic && output.type !== OutputType.Nft) return [];
  const { Timelock, Expiration } = UnlockConditionType;
  const condition = findCondition(output, type === 'timelock' ? Timelock : Expiration);
  return condition === undefined ? [] : [condition.unixTime];
}

const LIST = new Intl.ListFormat('en-GB');

/** "a, b and c". */
const listed = (words: readonly string[]) => (words.length === 0 ? 'outputs' : LIST.format(words));

const SHARE = 1_000_000n;

/** How large the parts are beside each other; the list says the same in words. */
function Bar({ parts }: { parts: readonly BalancePart[] }) {
  const whole = parts.reduce((sum, { amount }) => sum + amount, 0n);
  if (whole === 0n) return null;
  let left = 0;
  return (
    <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      {parts.map(({ name, amount }) => {
        const width = Number((amount * SHARE) / whole) / (Number(SHARE) / 100);
        const at = left;
        left += width;
        return <rect key={name} class={name} x={at} y="0" width={width} height="4" />;
      })}
    </svg>
  );
}

function Swatch({ name }: { name: PartName }) {
  return (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <rect class={name} width="10" height="10" rx="2.5" />
    </svg>
  );
}
