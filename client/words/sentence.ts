/**
 * Sentences that name addresses, amounts and times. A page makes links of the addresses, a terminal
 * text: both from the same parts.
 */
import { toBech32 } from '../../src/stardust/bech32.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import { formatAmount, type TokenUnit } from './amounts.ts';

export type Part =
  | string
  | { address: Address }
  /** Base tokens. */
  | { amount: bigint }
  /** Unix seconds. */
  | { unixTime: number };

export type Sentence = readonly Part[];

/** What the words of a network are made with. */
export interface NetworkWords {
  /** Prefix of its addresses, such as `smr`. */
  bech32Hrp: string;
  baseToken: TokenUnit;
}

/** A part as text. What kind of address it is stands before it: "alias smr1p…". */
export function writePart(part: Part, { bech32Hrp, baseToken }: NetworkWords): string {
  if (typeof part === 'string') return part;
  if ('amount' in part) return formatAmount(part.amount, baseToken);
  if ('unixTime' in part) return `${formatTime(part.unixTime)} UTC`;
  return `${kindOfAddress(part.address)}${toBech32(bech32Hrp, part.address)}`;
}

/** The sentence as plain text. */
export function writeSentence(sentence: Sentence, network: NetworkWords): string {
  return sentence.map((part) => writePart(part, network)).join('');
}

/** What stands before an address: nothing, where keys unlock it. */
export function kindOfAddress({ type }: Address): string {
  if (type === AddressType.Alias) return 'alias ';
  return type === AddressType.Nft ? 'NFT ' : '';
}
