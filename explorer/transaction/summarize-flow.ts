/**
 * What a transaction does, in one sentence: "A sent 4 SMR to B", or what it changes of chains.
 */
import type { Chain } from '../../client/words/kind.ts';
import type { Sentence } from '../../client/words/sentence.ts';
import { type Address, addressKey } from '../../src/stardust/wire/address.ts';
import { holderOf } from '../../src/stardust/wire/output.ts';
import { plural } from '../format.ts';
import type { Changes } from './changes.ts';
import type { TransactionFlow } from './flow.ts';

/** @param isApplied with this block, as the node says; undefined while no milestone has decided */
export function summarizeFlow(
  { inputs, outputs, created }: TransactionFlow,
  { chains }: Changes,
  isApplied: boolean | undefined,
): Sentence {
  const senders = distinct(inputs.flatMap(({ by }) => by ?? []));
  const [sender] = senders;
  const from: Sentence = senders.length === 1 ? [{ address: sender! }] : ['Several addresses'];
  const verb = (past: string, plain: string) =>
    isApplied ? ` ${past} ` : isApplied === undefined ? ` would ${plain} ` : ` tried to ${plain} `;
  const isSender = (address: Address) =>
    senders.some((each) => addressKey(each) === addressKey(address));
  const others = outputs.filter(({ output }) => !isSender(holderOf(output)));
  const changed = chains.filter(({ deed }) => deed !== 'kept');
  const ids = new Set(changed.map(({ chain }) => chain.id));
  const handed =
    changed.length === 0 ? others : others.filter(({ chain }) => ids.has(chain?.id ?? ''));
  const receivers = distinct(handed.map(({ output }) => holderOf(output)));
  const toReceivers = (word: 'to' | 'for'): Sentence =>
    receivers.length === 1
      ? [` ${word} `, { address: receivers[0]! }]
      : [` ${word} ${plural(receivers.length, 'address')}`];
  if (changed.length === 0) {
    if (others.length > 0) {
      const amount = others.reduce((sum, { output }) => sum + output.amount, 0n);
      return [...from, verb('sent', 'send'), { amount }, ...toReceivers('to')];
    }
    return [...from, verb('rearranged', 'rearrange'), { amount: created.amount }, ' of its own'];
  }
  if (changed.every(({ chain, deed }) => chain.kind === 'nft' && deed === 'moved'))
    return [...from, verb('sent', 'send'), plural(changed.length, 'NFT'), ...toReceivers('to')];
  if (changed.every(({ chain, deed }) => chain.kind === 'nft' && deed === 'minted')) {
    const whom = receivers.length === 0 ? [] : toReceivers('for');
    return [...from, verb('minted', 'mint'), plural(changed.length, 'NFT'), ...whom];
  }
  const unless = isApplied === undefined ? 'If it is applied: ' : 'Not applied with its block: ';
  return [isApplied ? '' : unless, summarizeChains(changed)];
}

function distinct(addresses: readonly Address[]): readonly Address[] {
  return [...new Map(addresses.map((each) => [addressKey(each), each])).values()];
}

/** "1 alias in a new state, 22 NFTs minted". */
export function summarizeChains(chains: Changes['chains']): string {
  const groups = Map.groupBy(chains, ({ chain, deed }) => `${chain.kind} ${deed}`);
  return Array.from(groups.values(), (all) => {
    const { chain, deed } = all[0]!;
    return `${plural(all.length, NOUNS[chain.kind])} ${deed}`;
  }).join(', ');
}

const NOUNS: Readonly<Record<Chain['kind'], string>> = {
  nft: 'NFT',
  alias: 'alias',
  foundry: 'foundry',
};
