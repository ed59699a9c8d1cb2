/**
 * The chains on both sides of a transaction: alias, foundry and NFT outputs by the ID that they
 * keep (TIP-0018; docs/protocol.md, D.2, "working data").
 */
import { toHexDigits } from '../encoding/bytes.ts';
import { AddressType, addressKey } from '../wire/address.ts';
import { aliasIdOf, foundryId, nftIdOf } from '../wire/ids.ts';
import {
  type AliasOutput,
  type FoundryOutput,
  type NftOutput,
  type Output,
  OutputType,
} from '../wire/output.ts';

/**
 * A chain's ID as a key of maps, distinct by type: the address key of an alias or NFT (33 bytes),
 * the hex of a foundry's ID (38 bytes), which is its token's ID too.
 */
export type ChainKey = string;

export type ChainOutput = AliasOutput | FoundryOutput | NftOutput;

export type ChainTable = ReadonlyMap<ChainKey, ChainOutput>;

/** Returns the key of the output's chain. A new alias or NFT gets its ID from `outputId` (B.6). */
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

/** The key of the foundry and of its token. */
export function foundryKey(foundry: FoundryOutput): ChainKey {
  return toHexDigits(foundryId(foundry));
}

/** The chains among the outputs. `outputIdOf` tells the 34-byte ID of the output at a position. */
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
