/**
 * The simple token scheme: a foundry's counters against the tokens that move (TIP-0018; protocol.md F-1, F-6 to F-10).
 *
 * `inSum` and `outSum` are the foundry's tokens on either side of the whole transaction.
 */
import type { SimpleTokenScheme } from '../output.ts';

/** F-1: a new foundry has minted just what comes out. What went in does not matter. */
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
  // F-8, where the rest is burned; F-9 is the same with a difference of 0
  return newlyMelted <= -difference && newlyMinted === 0n;
}

/** F-10: all that was minted is melted, here at the latest. A burned token is missing for good. */
export function schemeDestructionValid(
  { minted, melted }: SimpleTokenScheme,
  inSum: bigint,
  outSum: bigint,
): boolean {
  return minted + outSum - inSum === melted;
}
