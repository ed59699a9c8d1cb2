/**
 * What a transaction changes of aliases, foundries, NFTs and tokens, in sentences.
 */
import { formatTokens } from '../../client/words/amounts.ts';
import type { Chain } from '../../client/words/kind.ts';
import type { Part, Sentence } from '../../client/words/sentence.ts';
import { equalBytes, toHex } from '../../src/stardust/encoding/bytes.ts';
import { addressKey } from '../../src/stardust/wire/address.ts';
import { equalFeatures } from '../../src/stardust/wire/feature.ts';
import {
  type AliasOutput,
  type FoundryOutput,
  holderOf,
  type NativeToken,
  type NftOutput,
  type Output,
  OutputType,
} from '../../src/stardust/wire/output.ts';
import { addressIn, UnlockConditionType } from '../../src/stardust/wire/unlock-condition.ts';
import type { FlowInput, FlowOutput, TransactionFlow } from './flow.ts';

export interface ChainChange {
  chain: Chain;
  /** In one word, such as "minted". */
  deed: string;
  sentence: Sentence;
}

/** More of a token comes out than goes in, or less; its foundry says why where it is there, too. */
export interface TokenChange {
  id: Uint8Array;
  /** Without its sign. */
  amount: bigint;
  deed: 'minted' | 'melted' | 'burned' | 'created without its foundry';
}

export interface Changes {
  chains: readonly ChainChange[];
  tokens: readonly TokenChange[];
  /** Whether all inputs are known. Without one, what ended or moved may be missing. */
  isWhole: boolean;
}

/** Chains in the order of the outputs; those that end come last. */
export function readChainChanges({ inputs, outputs, consumed, created }: TransactionFlow): Changes {
  const isWhole = consumed !== undefined;
  const before = new Map(
    inputs.flatMap((input) => (input.chain === undefined ? [] : [[keyOf(input), input] as const])),
  );
  const chains = outputs.flatMap((now) => {
    if (now.chain === undefined) return [];
    const was = before.get(keyOf(now));
    before.delete(keyOf(now));
    return [{ chain: now.chain, ...describeChange(was, now.output, isWhole) }];
  });
  const ended = [...before.values()].flatMap((was) =>
    was.chain === undefined ? [] : [{ chain: was.chain, ...describeEnd(was) }],
  );
  return {
    chains: [...chains, ...ended],
    tokens: isWhole ? readTokenChanges(inputs, outputs, consumed.tokens, created.tokens) : [],
    isWhole,
  };
}

function keyOf({ chain }: Pick<FlowOutput, 'chain'>): string {
  return `${chain?.kind} ${chain?.id}`;
}

type Change = Omit<ChainChange, 'chain'>;

/** @param was undefined where the chain is new, or its input is not known */
function describeChange(was: FlowInput | undefined, now: Output, isWhole: boolean): Change {
  const before = was?.output;
  switch (now.type) {
    case OutputType.Nft:
      return describeNft(was, now);
    case OutputType.Alias:
      return describeAlias(before?.type === OutputType.Alias ? before : undefined, now);
    case OutputType.Foundry:
      return describeFoundry(
        before?.type === OutputType.Foundry ? before : undefined,
        now,
        isWhole,
      );
    default:
      throw new Error('a basic output is no chain');
  }
}

const isZero = (id: Uint8Array) => id.every((byte) => byte === 0);

function describeNft(was: FlowInput | undefined, now: NftOutput): Change {
  const to = { address: holderOf(now) };
  if (isZero(now.nftId)) return { deed: 'minted', sentence: ['It goes to ', to, '.'] };
  // it may have been there before
  if (was?.by === undefined) return { deed: 'in a new output', sentence: ['To ', to, '.'] };
  const from = { address: was.by };
  return addressKey(from.address) === addressKey(to.address)
    ? { deed: 'kept', sentence: ['It stays with ', to, '.'] }
    : { deed: 'moved', sentence: ['From ', from, ' to ', to, '.'] };
}

function describeAlias(was: AliasOutput | undefined, now: AliasOutput): Change {
  const controller = { address: addressIn(now, UnlockConditionType.StateController) };
  const governor = { address: addressIn(now, UnlockConditionType.Governor) };
  if (isZero(now.aliasId))
    return {
      deed: 'created',
      sentence: ['Its state controller is ', controller, ', its governor ', governor, '.'],
    };
  if (was === undefined)
    return { deed: 'changed', sentence: [`Its state index is ${now.stateIndex}.`] };
  if (was.stateIndex !== now.stateIndex) {
    const foundries = now.foundryCounter - was.foundryCounter;
    const parts = [
      `state index ${was.stateIndex} → ${now.stateIndex}`,
      foundries > 0 && `foundries ${was.foundryCounter} → ${now.foundryCounter}`,
      !equalBytes(was.stateMetadata, now.stateMetadata) && 'other state metadata',
    ];
    return { deed: 'in a new state', sentence: [`${capital(parts.filter(Boolean).join(', '))}.`] };
  }
  return {
    deed: 'governed',
    sentence: [
      ...describeController('state controller', UnlockConditionType.StateController, was, now),
      ' ',
      ...describeController('governor', UnlockConditionType.Governor, was, now),
      ...(equalFeatures(was.features, now.features) ? [] : [' Its features change.']),
    ],
  };
}

function describeController(
  role: string,
  type: typeof UnlockConditionType.StateController | typeof UnlockConditionType.Governor,
  was: AliasOutput,
  now: AliasOutput,
): Part[] {
  const [before, after] = [addressIn(was, type), addressIn(now, type)];
  return addressKey(before) === addressKey(after)
    ? [`Its ${role} stays `, { address: after }, '.']
    : [`Its ${role} was `, { address: before }, ' and is ', { address: after }, '.'];
}

/** What circulates: minted and not melted. */
function supplyOf({ tokenScheme: { minted, melted } }: FoundryOutput): bigint {
  return minted - melted;
}

function describeFoundry(
  was: FoundryOutput | undefined,
  now: FoundryOutput,
  isWhole: boolean,
): Change {
  // what it claims of its token is no fact of the ledger
  const write = (amount: bigint) => formatTokens(amount, undefined);
  const supply = `${write(supplyOf(now))} of at most ${write(now.tokenScheme.maximumSupply)}`;
  if (was === undefined)
    return {
      deed: isWhole ? 'created' : 'created or changed',
      sentence: [`Its supply is ${supply}.`],
    };
  const change = supplyOf(now) - supplyOf(was);
  if (change === 0n) return { deed: 'changed', sentence: [`Its supply stays ${supply}.`] };
  const sign = change > 0n ? '+' : '−';
  return {
    deed: change > 0n ? 'minted tokens' : 'melted tokens',
    sentence: [`Supply ${sign}${write(change > 0n ? change : -change)}: it is ${supply}.`],
  };
}

function describeEnd({ output, by }: FlowInput): Change {
  if (output?.type === OutputType.Foundry) {
    const supply = formatTokens(supplyOf(output), undefined);
    return { deed: 'destroyed', sentence: [`Before, its supply was ${supply}.`] };
  }
  return {
    deed: output?.type === OutputType.Nft ? 'burned' : 'destroyed',
    sentence: by === undefined ? [] : ['By ', { address: by }, '.'],
  };
}

/** S5, F-7 to F-10: what is not melted by the foundry is burned. */
function readTokenChanges(
  inputs: TransactionFlow['inputs'],
  outputs: TransactionFlow['outputs'],
  before: readonly NativeToken[],
  after: readonly NativeToken[],
): TokenChange[] {
  const amounts = (tokens: readonly NativeToken[]) =>
    new Map(tokens.map(({ id, amount }) => [toHex(id), amount]));
  const [consumed, created] = [amounts(before), amounts(after)];
  const ids = new Map([...before, ...after].map(({ id }) => [toHex(id), id]));
  return [...ids]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, id]): TokenChange[] => {
      const change = (created.get(key) ?? 0n) - (consumed.get(key) ?? 0n);
      if (change === 0n) return [];
      const find = (side: readonly Pick<FlowInput, 'output' | 'chain'>[]) =>
        side.find((each) => each.output?.type === OutputType.Foundry && each.chain?.id === key)
          ?.output as FoundryOutput | undefined;
      const [was, now] = [find(inputs), find(outputs)];
      if (change > 0n)
        return [{ id, amount: change, deed: now ? 'minted' : 'created without its foundry' }];
      const melted =
        was === undefined
          ? 0n
          : now === undefined
            ? -change
            : now.tokenScheme.melted - was.tokenScheme.melted;
      return [
        ...(melted > 0n ? [{ id, amount: melted, deed: 'melted' as const }] : []),
        ...(-change > melted ? [{ id, amount: -change - melted, deed: 'burned' as const }] : []),
      ];
    });
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
