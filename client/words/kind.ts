/**
 * What an output is, in a word, and which chain it continues.
 */
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { chainIdOf } from '../../src/stardust/wire/ids.ts';
import { type Output, OutputType } from '../../src/stardust/wire/output.ts';

const KINDS = {
  [OutputType.Basic]: 'basic',
  [OutputType.Alias]: 'alias',
  [OutputType.Foundry]: 'foundry',
  [OutputType.Nft]: 'nft',
} as const;

export type OutputKind = (typeof KINDS)[Output['type']];

export const KIND_WORDS: Readonly<Record<OutputKind, string>> = {
  basic: 'Basic output',
  alias: 'Alias',
  foundry: 'Foundry',
  nft: 'NFT',
};

export function outputKind({ type }: Output): OutputKind {
  return KINDS[type];
}

/** An alias, a foundry or an NFT, by its ID (B.6, B.7). */
export interface Chain {
  kind: Exclude<OutputKind, 'basic'>;
  /** 0x…: 32 bytes of an alias or NFT, 38 of a foundry. */
  id: string;
}

/**
 * The chain that an output continues or begins; undefined of a basic output.
 *
 * @param ownOutputId of the output itself, 34 bytes
 */
export function chainOf(output: Output, ownOutputId: Uint8Array): Chain | undefined {
  const kind = outputKind(output);
  const id = chainIdOf(output, ownOutputId);
  return kind === 'basic' || id === undefined ? undefined : { kind, id: toHex(id) };
}
