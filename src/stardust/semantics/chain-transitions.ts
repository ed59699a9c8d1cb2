/**
 * Transitions of chains (TIP-0018; docs/protocol.md, D.2, S6, and D.3). A consumed chain goes on or
 * is destroyed; a created one that was not consumed is new. Issuers (unlocking.ts) belong
 * to this stage too, but depend on the unlocked addresses, and so on the milestone's timestamp.
 */
import { isZero } from '../encoding/bytes.ts';
import { equalFeatures } from '../wire/feature.ts';
import { type Output, OutputType } from '../wire/output.ts';
import { aliasGenesisValid, aliasTransitionValid } from './alias-transition.ts';
import type { ChainKey, ChainOutput, ChainTable } from './chains.ts';
import {
  type FoundrySurroundings,
  findNewFoundries,
  foundryDestructionValid,
  foundryGenesisValid,
  foundryTransitionValid,
} from './foundry-transition.ts';
import type { TokenSums } from './native-tokens.ts';

/** A chain that may not change, or begin, in this way. */
export interface ChainFault {
  rule: 'S6.1' | 'S6.2';
  chain: ChainKey;
}

/**
 * S6.1 and S6.2, except for the issuers: finds the first chain that breaks a rule. Whether there is
 * one does not depend on the order of the tables.
 */
export function findChainFault(
  outputs: readonly Output[],
  inChains: ChainTable,
  outChains: ChainTable,
  inSums: TokenSums,
  outSums: TokenSums,
): ChainFault | undefined {
  const newFoundries = findNewFoundries(outputs, inChains);
  const surroundings = { inChains, outChains, inSums, outSums, newFoundries };
  // S6.1
  for (const [key, current] of inChains) {
    const next = outChains.get(key);
    const valid =
      next === undefined
        ? // A-2, N-3: aliases and NFTs may always be destroyed; F-10: foundries under a condition
          current.type !== OutputType.Foundry || foundryDestructionValid(current, surroundings)
        : transitionValid(key, current, next, surroundings);
    if (!valid) return { rule: 'S6.1', chain: key };
  }
  // S6.2
  for (const [key, output] of outChains) {
    if (!inChains.has(key) && !genesisValid(output, surroundings))
      return { rule: 'S6.2', chain: key };
  }
  return undefined;
}

function transitionValid(
  key: ChainKey,
  current: ChainOutput,
  next: ChainOutput,
  surroundings: FoundrySurroundings,
): boolean {
  if (current.type === OutputType.Alias && next.type === OutputType.Alias)
    return aliasTransitionValid(current, next, surroundings.newFoundries.get(key)?.length ?? 0);
  if (current.type === OutputType.Foundry && next.type === OutputType.Foundry)
    return foundryTransitionValid(current, next, surroundings);
  if (current.type === OutputType.Nft && next.type === OutputType.Nft)
    // N-2
    return equalFeatures(current.immutableFeatures, next.immutableFeatures);
  throw new Error(
    `chain ${key} turns from type ${current.type} into ${next.type}: excluded by its key`,
  );
}

/** an alias or NFT with an ID that was not consumed is not new, so its creation is invalid. */
function genesisValid(output: ChainOutput, surroundings: FoundrySurroundings): boolean {
  switch (output.type) {
    case OutputType.Alias:
      return aliasGenesisValid(output);
    case OutputType.Foundry:
      return foundryGenesisValid(output, surroundings);
    case OutputType.Nft:
      // N-1, except for the issuer (unlocking.ts)
      return isZero(output.nftId);
  }
}
