/**
 * The simple token scheme: whether a foundry's counters fit the tokens that a transaction moves
 * (TIP-0018; docs/protocol.md, F-1, F-6 to F-10). `inSum` and `outSum` are the amounts of the
 * foundry's token in all consumed and in all created outputs, uint256.
 */
import type { SimpleTokenScheme } from '../wire/output.ts';

/** F-1: a new foundry has minted exactly the tokens that are created, whatever is consumed. */
export function schemeGenesisValid({ minted, melted }: SimpleTokenScheme, outSum: bigint): boolean {
  return melted === 0n && minted === outSum;
}

/** F-6 to F-9 */
export function schemeTransitionValid(
  current: SimpleTokenScheme,
  next: SimpleTokenScheme,
  inSum: bigint,
  outSum: bigint,
): boolean {
  const newlyMinted = next.minted - current.minted;
  const newlyMelted = next.melted - current.melted;
  // F-6
  if (current.maximumSupply !== next.maximumSupply || newlyMinted < 0n || newlyMelted < 0n)
    return false;
  const difference = outSum - inSum;
  // F-7
  if (difference > 0n) return newlyMinted === difference && newlyMelted === 0n;
  // F-8: what is neither melted nor created is burned. F-9 is the same with a difference of 0.
  return newlyMelted <= -difference && newlyMinted === 0n;
}

/** F-10: all tokens ever minted are melted. A foundry with a burned token is never destroyed. */
export function schemeDestructionValid(
  { minted, melted }: SimpleTokenScheme,
  inSum: bigint,
  outSum: bigint,
): boolean {
  return minted + outSum - inSum === melted;
}
