/** Features of outputs (TIP-0018; docs/protocol.md, A.7): sender, issuer, metadata, tag. */
import { equalBytes } from '../encoding/bytes.ts';
import {
  byteString,
  type Codec,
  constant,
  encode,
  record,
  u8,
  u16,
  union,
} from '../encoding/codec.ts';
import { type Address, address } from './address.ts';
import { listByType } from './unlock-condition.ts';

export const FeatureType = { Sender: 0, Issuer: 1, Metadata: 2, Tag: 3 } as const;

export interface SenderFeature {
  type: typeof FeatureType.Sender;
  address: Address;
}

export interface IssuerFeature {
  type: typeof FeatureType.Issuer;
  address: Address;
}

export interface MetadataFeature {
  type: typeof FeatureType.Metadata;
  data: Uint8Array;
}

export interface TagFeature {
  type: typeof FeatureType.Tag;
  tag: Uint8Array;
}

export type Feature = SenderFeature | IssuerFeature | MetadataFeature | TagFeature;

type FeatureTypeNumber = Feature['type'];

const feature: Codec<Feature> = union<Feature>('C-34', u8, {
  0: record<SenderFeature>({ type: constant('A.7', u8, 0), address }),
  1: record<IssuerFeature>({ type: constant('A.7', u8, 1), address }),
  2: record<MetadataFeature>({
    type: constant('A.7', u8, 2),
    data: byteString('C-35', u16, 1, 8192),
  }),
  3: record<TagFeature>({ type: constant('A.7', u8, 3), tag: byteString('C-35', u8, 1, 64) }),
});

/** C-34: list of features of the allowed types, at most one of each, in ascending order of type. */
// @__NO_SIDE_EFFECTS__
export function featuresOf(allowed: readonly FeatureTypeNumber[]): Codec<Feature[]> {
  return listByType('C-34', feature, allowed, 0);
}

/** The feature of this type, undefined if the list has none. */
export function findFeature<T extends FeatureTypeNumber>(
  features: readonly Feature[],
  type: T,
): Extract<Feature, { type: T }> | undefined {
  return features.find((value) => value.type === type) as Extract<Feature, { type: T }> | undefined;
}

const anyFeatures = featuresOf([0, 1, 2, 3]);

/** Whether both lists hold the same features in the same order. */
export function equalFeatures(a: readonly Feature[], b: readonly Feature[]): boolean {
  return equalBytes(encode(anyFeatures, [...a]), encode(anyFeatures, [...b]));
}
