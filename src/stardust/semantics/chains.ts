/**
 * Chains on either side of a transaction: alias, foundry and NFT outputs by the ID that they keep while they change (TIP-0018; protocol.md D.2 "working data").
 */
import { AddressType, addressKey } from '../address.ts';
import { toHexDigits } from '../bytes.ts';
import { aliasIdOf, foundryId, nftIdOf } from '../ids.ts';
import {
  type AliasOutput,
  type FoundryOutput,
  type NftOutput,
  type Output,
  OutputType,
} from '../output.ts';

/**
 * A chain's ID as a map key that tells the kinds apart: for an alias or NFT the key of its address (33 bytes), for a foundry the hex of its
 * ID (38 bytes), which is the token's ID too.
 */
export type ChainKey = string;

export type ChainOutput = AliasOutput | FoundryOutput | NftOutput;

export type ChainTable = ReadonlyMap<ChainKey, ChainOutput>;

/** The chain that an output is a state of, whose own ID stands in for a zero alias or NFT ID (B.6). */
export function chainKey(output: ChainOutput, outputId: Uint8Array): ChainKey {
  switch (output.type) {
    case OutputType.Alias:
      return addressKey({ type: AddressType.Alias, id: aliasIdOf(output, outputId) });
    case OutputType.Foundry:
      return foundryKey(output);
    case OutputType.Nft:
      return addressKey({ type: AddressType.Nft, id: nftIdOf(output, outputId) });
  }
}

/** The key of a foundry, and of its token. */
export function foundryKey(foundry: FoundryOutput): ChainKey {
  return toHexDigits(foundryId(foundry));
}

/** The chains among outputs; `outputIdOf` is asked for the 34-byte ID of the output at a position. */
export function chainTable(
  outputs: readonly Output[],
  outputIdOf: (position: number) => Uint8Array,
): ChainTable {
  const chains = new Map<ChainKey, ChainOutput>();
  outputs.forEach((output, i) => {
    if (output.type !== OutputType.Basic) chains.set(chainKey(output, outputIdOf(i)), output);
  });
  return chains;
}
