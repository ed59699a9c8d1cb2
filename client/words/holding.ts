/**
 * What a record of a final ledger says, in words: what the output holds, and who can unlock it. All of
 * it is made of the record, so it is as good as the record's proof.
 */
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import type { FinalRecord } from '../../src/stardust/provenance/final.ts';
import { type Proved, provedValue, tell } from '../../src/stardust/provenance/proved.ts';
import { findKnownNetwork } from '../../src/stardust/verifier/known-networks.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import type { NativeToken, Output } from '../../src/stardust/wire/output.ts';
import { formatAmount, formatTokens, type TokenUnit } from './amounts.ts';
import { chainOf, KIND_WORDS, outputKind } from './kind.ts';
import { kindOfAddress, type Sentence, writePart } from './sentence.ts';
import { describeUnlock } from './unlock.ts';

/** What no root has: how addresses and amounts are written. */
export interface FinalWords {
  /** Undefined: addresses are written as 0x…, type and ID. */
  bech32Hrp: string | undefined;
  baseToken: TokenUnit;
}

/** In place of a token whose decimals nobody proves. */
const SMALLEST_UNIT: TokenUnit = { decimals: 0, tickerSymbol: 'base tokens' };

/** @param prefix of addresses, where a file says it; of a known network it is ours that counts */
export function finalWords(networkName: string, prefix?: string): FinalWords {
  const known = findKnownNetwork(networkName);
  return {
    bech32Hrp: known?.bech32Hrp ?? prefix,
    baseToken: known?.baseToken ?? SMALLEST_UNIT,
  };
}

/** An output as a final ledger has it. */
interface ProvedHolding {
  /** 0x…. */
  id: string;
  output: Output;
  /** Of the milestone that booked it, Unix seconds. */
  bookedTimestamp: number;
}

/**
 * What it is and holds, and who can unlock it from its creation on: one sentence each.
 *
 * @param pick the holding, of what was proved
 */
export function describeHolding<T>(
  proof: Proved<T>,
  pick: (value: T) => ProvedHolding,
  words: FinalWords,
): Proved<string>[] {
  const holding = pick(provedValue(proof));
  const { output, bookedTimestamp } = holding;
  // the root has no time at which the network ended, so the sentences begin with the output
  const moment = { unixTime: bookedTimestamp, tense: 'now' } as const;
  return [
    `${describeContent(holding, words)}.`,
    ...describeTokens(output.nativeTokens).map((token) => `It holds ${token}.`),
    ...describeUnlock(output, moment, ownAddress(holding)).map((each) => write(each, words)),
  ].map((sentence) => tell(proof, () => sentence));
}

/** Whether a final ledger has an output or an NFT, and what it holds: one sentence each. */
export function describeRecord(proof: Proved<FinalRecord>): Proved<string>[] {
  const record = provedValue(proof);
  const name = `${record.tree === 'nfts' ? 'NFT' : 'Output'} ${record.id}`;
  const say = (text: string) => [tell(proof, () => text)];
  if (!record.present) return say(`${name} is not in the ledger.`);
  if (record.tree === 'nfts') return say(`${name} is in the ledger, in output ${record.outputId}.`);
  return [
    ...say(`${name} is in the ledger, unspent.`),
    ...describeHolding(proof, () => record, finalWords(record.networkName)),
  ];
}

/** "NFT 0x…, with 1.5 SMR". */
function describeContent(
  { id, output }: Pick<ProvedHolding, 'id' | 'output'>,
  { baseToken }: FinalWords,
): string {
  const chain = chainOf(output, fromHex(id));
  const what = `${KIND_WORDS[outputKind(output)]}${chain === undefined ? '' : ` ${chain.id}`}`;
  return `${what}, with ${formatAmount(output.amount, baseToken)}`;
}

/** "5 units of native token 0x…" */
export function describeTokens(tokens: readonly NativeToken[]): string[] {
  return tokens.map(
    ({ id, amount }) => `${formatTokens(amount, undefined)} of native token ${toHex(id)}`,
  );
}

/** Of the NFT or alias that the output holds: it may unlock its own deposit. */
function ownAddress({ id, output }: ProvedHolding): Address | undefined {
  const chain = chainOf(output, fromHex(id));
  if (chain?.kind !== 'nft' && chain?.kind !== 'alias') return undefined;
  const type = chain.kind === 'nft' ? AddressType.Nft : AddressType.Alias;
  return { type, id: fromHex(chain.id) };
}

export function writeAddress(address: Address, { bech32Hrp, baseToken }: FinalWords): string {
  if (bech32Hrp !== undefined) return writePart({ address }, { bech32Hrp, baseToken });
  const type = address.type.toString(16).padStart(2, '0');
  return `${kindOfAddress(address)}0x${type}${toHex(address.id).slice(2)}`;
}

function write(sentence: Sentence, words: FinalWords): string {
  const network = { bech32Hrp: '', baseToken: words.baseToken };
  return sentence
    .map((part) =>
      typeof part === 'object' && 'address' in part
        ? writeAddress(part.address, words)
        : writePart(part, network),
    )
    .join('');
}
