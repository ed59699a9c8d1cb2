/**
 * Transitions of foundries (TIP-0018; docs/protocol.md, F-1 to F-11). F-11 needs no code: the
 * owner, an alias, unlocks what it owns in a state transition only (unlocking.ts, S2.13). `inSums`
 * and `outSums` have the amounts of tokens in all consumed and in all created outputs, uint256.
 */
import { addressKey } from '../wire/address.ts';
import { equalFeatures } from '../wire/feature.ts';
import { type FoundryOutput, type Output, OutputType } from '../wire/output.ts';
import { addressIn, UnlockConditionType } from '../wire/unlock-condition.ts';
import { type ChainKey, type ChainTable, foundryKey } from './chains.ts';
import type { TokenSums } from './native-tokens.ts';

/** Serial numbers of the new foundries of each alias, in the order of the outputs. */
export type NewFoundries = ReadonlyMap<ChainKey, readonly number[]>;

/** The parts of the transaction on which a foundry's transition depends. */
export interface FoundrySurroundings {
  inChains: ChainTable;
  outChains: ChainTable;
  inSums: TokenSums;
  outSums: TokenSums;
  newFoundries: NewFoundries;
}

/** The foundries that are created and were not consumed. */
export function findNewFoundries(outputs: readonly Output[], inChains: ChainTable): NewFoundries {
  const serials = new Map<ChainKey, number[]>();
  for (const output of outputs) {
    if (output.type !== OutputType.Foundry || inChains.has(foundryKey(output))) continue;
    const alias = aliasKey(output);
    serials.set(alias, [...(serials.get(alias) ?? []), output.serialNumber]);
  }
  return serials;
}

function aliasKey(foundry: FoundryOutput): ChainKey {
  return addressKey(addressIn(foundry, UnlockConditionType.ImmutableAlias));
}

/** F-1 to F-4 */
export function foundryGenesisValid(
  foundry: FoundryOutput,
  { inChains, outChains, outSums, newFoundries }: FoundrySurroundings,
): boolean {
  const { tokenScheme, serialNumber } = foundry;
  // F-1: a new foundry has minted exactly the tokens that are created, whatever is consumed
  const outSum = outSums.get(foundryKey(foundry)) ?? 0n;
  if (tokenScheme.melted !== 0n || tokenScheme.minted !== outSum) return false;
  // F-2
  const alias = aliasKey(foundry);
  const before = inChains.get(alias);
  const after = outChains.get(alias);
  if (before?.type !== OutputType.Alias || after?.type !== OutputType.Alias) return false;
  // F-3
  if (serialNumber <= before.foundryCounter || serialNumber > after.foundryCounter) return false;
  // F-4
  const serials = newFoundries.get(alias) ?? [];
  return serials.slice(0, serials.indexOf(serialNumber)).every((earlier) => earlier < serialNumber);
}

/** F-5 to F-9 */
export function foundryTransitionValid(
  current: FoundryOutput,
  next: FoundryOutput,
  { inSums, outSums }: FoundrySurroundings,
): boolean {
  // F-5
  if (!equalFeatures(current.immutableFeatures, next.immutableFeatures)) return false;
  const { minted, melted, maximumSupply } = next.tokenScheme;
  const newlyMinted = minted - current.tokenScheme.minted;
  const newlyMelted = melted - current.tokenScheme.melted;
  // F-6
  if (current.tokenScheme.maximumSupply !== maximumSupply) return false;
  if (newlyMinted < 0n || newlyMelted < 0n) return false;
  const token = foundryKey(current);
  const difference = (outSums.get(token) ?? 0n) - (inSums.get(token) ?? 0n);
  // F-7
  if (difference > 0n) return newlyMinted === difference && newlyMelted === 0n;
  // F-8: what is neither melted nor created is burned. F-9 is the same with a difference of 0.
  return newlyMelted <= -difference && newlyMinted === 0n;
}

/** F-10: all tokens ever minted are melted. A foundry with a burned token is never destroyed. */
export function foundryDestructionValid(
  foundry: FoundryOutput,
  { inSums, outSums }: FoundrySurroundings,
): boolean {
  const { minted, melted } = foundry.tokenScheme;
  const token = foundryKey(foundry);
  return minted + (outSums.get(token) ?? 0n) - (inSums.get(token) ?? 0n) === melted;
}
