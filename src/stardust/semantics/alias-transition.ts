/**
 * Transitions of aliases, by the governor or by the state controller (TIP-0018; docs/protocol.md,
 *
 */
import { equalBytes, isZero } from '../encoding/bytes.ts';
import { addressKey } from '../wire/address.ts';
import { equalFeatures, FeatureType } from '../wire/feature.ts';
import type { AliasOutput, NativeToken } from '../wire/output.ts';
import { addressIn, UnlockConditionType } from '../wire/unlock-condition.ts';

export type AliasStep = 'governance' | 'state' | 'destruction' | 'illegal';

/** S2.2: returns what an alias does, by the state index alone. `next`: undefined if it ends. */
export function aliasStep(current: AliasOutput, next: AliasOutput | undefined): AliasStep {
  if (next === undefined) return 'destruction';
  if (next.stateIndex === current.stateIndex) return 'governance';
  // in uint32, where 0 comes after 2^32 − 1
  if (next.stateIndex === (current.stateIndex + 1) >>> 0) return 'state';
  return 'illegal';
}

/** A-1, except for the issuer (unlocking.ts) */
export const aliasGenesisValid = (alias: AliasOutput): boolean => isZero(alias.aliasId);

/** `newFoundries` is the number of foundries that the alias creates. */
export function aliasTransitionValid(
  current: AliasOutput,
  next: AliasOutput,
  newFoundries: number,
): boolean {
  //
  if (!equalFeatures(current.immutableFeatures, next.immutableFeatures)) return false;
  switch (aliasStep(current, next)) {
    case 'governance':
      return governanceValid(current, next);
    case 'state':
      return stateValid(current, next, newFoundries);
    case 'destruction':
    case 'illegal':
      return false;
  }
}

/** a governance transition may change controllers and features, nothing else. */
function governanceValid(current: AliasOutput, next: AliasOutput): boolean {
  return (
    current.amount === next.amount &&
    equalTokens(current.nativeTokens, next.nativeTokens) &&
    equalBytes(current.stateMetadata, next.stateMetadata) &&
    current.foundryCounter === next.foundryCounter
  );
}

function equalTokens(a: readonly NativeToken[], b: readonly NativeToken[]): boolean {
  return (
    a.length === b.length &&
    a.every((token, i) => equalBytes(token.id, b[i]!.id) && token.amount === b[i]!.amount)
  );
}

function stateValid(current: AliasOutput, next: AliasOutput, newFoundries: number): boolean {
  const counted = next.foundryCounter - current.foundryCounter;
  return (
    //
    [UnlockConditionType.StateController, UnlockConditionType.Governor].every(
      (type) => addressKey(addressIn(current, type)) === addressKey(addressIn(next, type)),
    ) &&
    // the metadata feature stays, the sender may change
    equalFeatures(metadata(current), metadata(next)) &&
    // the counter grows by the number of new foundries, so it never decreases. A-7:
    // where it stays, none are looked at; it is the foundry that F-3 refuses then, not the alias
    (counted === 0 || counted === newFoundries)
  );
}

function metadata({ features }: AliasOutput) {
  return features.filter(({ type }) => type === FeatureType.Metadata);
}
