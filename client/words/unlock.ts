/**
 * Who can unlock an output, now and later, and what that obliges to (docs/protocol.md, S1, S2, S4), as
 * sentences. Each is exact to the second: in the second that a timelock names it holds no more, and in
 * the second that an expiration names the return address owns the output.
 */
import { equalBytes } from '../../src/stardust/encoding/bytes.ts';
import { ownerAt } from '../../src/stardust/semantics/owner.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import {
  type AliasOutput,
  type BasicOutput,
  type NftOutput,
  type Output,
  OutputType,
} from '../../src/stardust/wire/output.ts';
import {
  addressIn,
  findCondition,
  UnlockConditionType,
} from '../../src/stardust/wire/unlock-condition.ts';
import type { Part, Sentence } from './sentence.ts';

/** The time that the sentences are about, and what happened to the output at that time. */
export interface UnlockMoment {
  /** Seconds: of the ledger's newest milestone, or of the one that spent the output. */
  unixTime: number;
  /** `ended`: the network ended at that time. `spent`: the output was spent at that time. */
  tense: 'now' | 'ended' | 'spent';
}

/** A time in which the same address, or nobody, can unlock an output. */
export interface UnlockPeriod {
  /** Undefined: from the moment on that was asked about. */
  from: number | undefined;
  /** Undefined: a timelock holds the output. */
  owner: Address | undefined;
}

/** From a moment on, without gaps: the first period has that moment, and the last has no end. */
export function unlockPeriods(
  output: BasicOutput | NftOutput,
  unixTime: number,
): readonly UnlockPeriod[] {
  const timelock = findCondition(output, UnlockConditionType.Timelock);
  const expiration = findCondition(output, UnlockConditionType.Expiration);
  const changes = [timelock?.unixTime, expiration?.unixTime]
    .filter((time) => time !== undefined && time > unixTime)
    .sort((a, b) => a! - b!);
  const periods: UnlockPeriod[] = [];
  for (const from of [undefined, ...changes]) {
    const { address, timelockedUntil } = ownerAt(output, from ?? unixTime);
    const owner = timelockedUntil === undefined ? address : undefined;
    const before = periods.at(-1);
    if (before === undefined || !isSame(before.owner, owner)) periods.push({ from, owner });
  }
  return periods;
}

/**
 * The sentences about an output of any kind.
 *
 * @param ownAddress of the NFT or alias that the output holds
 */
export function describeUnlock(
  output: Output,
  moment: UnlockMoment,
  ownAddress?: Address,
): readonly Sentence[] {
  switch (output.type) {
    case OutputType.Alias:
      return describeAlias(output, moment);
    case OutputType.Foundry: {
      const owner = addressIn(output, UnlockConditionType.ImmutableAlias);
      const deed = ' mint or melt its tokens, change it or destroy it';
      return [
        ['Only ', { address: owner }, CAN[moment.tense], deed, WHEN[moment.tense], '.'],
        explainOwner(owner),
      ];
    }
    default: {
      const periods = unlockPeriods(output, moment.unixTime);
      const owners = periods.flatMap(({ owner }) => owner ?? []);
      return [
        describePeriods(periods, moment),
        ...describeReturn(output, owners, moment, ownAddress),
        ...explainOwners(owners),
      ];
    }
  }
}

const CAN = { now: ' can', ended: ' could', spent: ' could' } as const;
const WHEN = { now: '', ended: ' when the network ended', spent: ' when it was spent' } as const;

function describePeriods(
  [first, ...later]: readonly UnlockPeriod[],
  { tense }: UnlockMoment,
): Sentence {
  const subject = (owner: Address | undefined, isFirst = false): Part[] =>
    owner === undefined
      ? [isFirst ? 'Nobody' : 'nobody']
      : [isFirst ? 'Only ' : 'only ', { address: owner }];
  const start = [...subject(first?.owner, true), CAN[tense], ' spend it', WHEN[tense]];
  // what was due later never came
  if (tense === 'spent') return [...start, '.'];
  const verb = tense === 'ended' ? ' could have' : ' can';
  return [
    ...start,
    ...later.flatMap(({ from, owner }, i): Part[] => [
      i > 0 ? ', and from ' : tense === 'ended' ? '; from ' : ' before ',
      { unixTime: from! },
      i === 0 && tense === 'now' ? '; from then on ' : ' on ',
      ...subject(owner),
      verb,
    ]),
    '.',
  ];
}

const RETURNS = {
  now: 'Spending it returns ',
  ended: 'Spending it would have returned ',
  spent: 'Spending it returned ',
} as const;

/** S4.2: nothing is due where the return address itself unlocks the output. */
function describeReturn(
  output: BasicOutput | NftOutput,
  owners: readonly Address[],
  { tense }: UnlockMoment,
  ownAddress: Address | undefined,
): Sentence[] {
  const condition = findCondition(output, UnlockConditionType.StorageDepositReturn);
  if (condition === undefined) return [];
  const { amount, returnAddress: address } = condition;
  const isOwn = (owner: Address) => isSame(owner, address);
  // S2.12: an NFT unlocks its own address
  if ((owners.length > 0 && owners.every(isOwn)) || isSame(ownAddress, address))
    return [
      [
        'The storage deposit of ',
        { amount },
        ' is due to ',
        { address },
        ', who unlocks it: nothing is returned.',
      ],
    ];
  const unless: Part[] = owners.some(isOwn) ? [', unless that address itself unlocks it'] : [];
  return [[RETURNS[tense], { amount }, ' to ', { address }, ...unless, '.']];
}

function describeAlias(output: AliasOutput, { tense }: UnlockMoment): Sentence[] {
  const controller = addressIn(output, UnlockConditionType.StateController);
  const governor = addressIn(output, UnlockConditionType.Governor);
  const [can, when] = [CAN[tense], WHEN[tense]];
  return [
    [
      'Only ',
      { address: controller },
      ', its state controller,',
      can,
      ' change its state and what it holds',
      when,
      '.',
    ],
    [
      'Only ',
      { address: governor },
      ', its governor,',
      can,
      ' change its controllers and metadata, or destroy it and move what it held',
      when,
      '.',
    ],
    ...explainOwners([controller, governor]),
  ];
}

function explainOwners(owners: readonly Address[]): Sentence[] {
  return [AddressType.Alias, AddressType.Nft].flatMap((type) => {
    const owner = owners.find((each) => each.type === type);
    return owner === undefined ? [] : [explainOwner(owner)];
  });
}

/** S2.12, S2.13: how an address is unlocked that no key has. */
function explainOwner({ type }: Address): Sentence {
  return type === AddressType.Alias
    ? [
        'An alias unlocks outputs in a transaction of its state controller that raises its state index.',
      ]
    : ['An NFT unlocks outputs in a transaction of its owner that consumes the NFT.'];
}

function isSame(a: Address | undefined, b: Address | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.type === b.type && equalBytes(a.id, b.id);
}
