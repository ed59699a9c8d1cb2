/** Outputs: bytes, JSON, IDs, owners, deposits. The subpath `/output` of the package (README.md). */
import { encodeChecked } from './encoding/codec.ts';
import { type Output, output } from './wire/output.ts';

/**
 * The output in binary form (A.8). Throws a StardustError if `decodeOutput` would refuse it, or read
 * another output in it.
 *
 * @example
 * ```ts
 * import { type BasicOutput, encodeOutput } from '@stardust-edge/protocol/output';
 *
 * const output: BasicOutput = {
 *   type: 3,
 *   amount: 1_000_000n,
 *   nativeTokens: [],
 *   unlockConditions: [{ type: 0, address: { type: 0, id: new Uint8Array(32) } }],
 *   features: [],
 * };
 * console.log(encodeOutput(output).length); // 46
 * ```
 */
export function encodeOutput(value: Output): Uint8Array {
  return encodeChecked(output, value);
}

export { minimumDeposit } from './admission.ts';
export { type NftClaims, readNftClaims } from './json/nft-claims.ts';
export { outputFromJson, outputToJson } from './json/rest-json.ts';
export { type Owner, ownerAt } from './semantics/owner.ts';
export {
  type Address,
  AddressType,
  type AliasAddress,
  type Ed25519Address,
  type NftAddress,
} from './wire/address.ts';
export { type Feature, FeatureType, findFeature } from './wire/feature.ts';
export {
  aliasIdOf,
  chainIdOf,
  decodeOutput,
  foundryId,
  nftIdOf,
  outputId,
} from './wire/ids.ts';
export {
  type AliasOutput,
  type BasicOutput,
  type FoundryOutput,
  type NativeToken,
  type NftOutput,
  type Output,
  OutputType,
  type SimpleTokenScheme,
} from './wire/output.ts';
export type { RentStructure } from './wire/parameters.ts';
export {
  addressIn,
  findCondition,
  type UnlockCondition,
  UnlockConditionType,
} from './wire/unlock-condition.ts';
