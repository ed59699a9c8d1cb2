/**
 * What the metadata of an NFT claims, by IRC-27
 * (https://github.com/iotaledger/tips/blob/main/tips/TIP-0027/tip-0027.md). Anybody may write
 * anything there, so every field is read for itself: what does not have its form is left out here,
 * and stays visible in the JSON.
 */
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import type { Output } from '../node/shapes.ts';

export interface Trait {
  name: string;
  value: string;
}

export interface Royalty {
  address: string;
  /** 0 to 1. */
  share: number;
}

export interface Claims {
  name?: string;
  description?: string;
  collectionName?: string;
  issuerName?: string;
  /** Media type. */
  type?: string;
  uri?: string;
  traits: readonly Trait[];
  royalties: readonly Royalty[];
}

export interface Metadata {
  /** The whole of it, as text. */
  text: string;
  /** Undefined unless the metadata is a JSON object. */
  claims: Claims | undefined;
}

const METADATA_FEATURE = 2;

/** Undefined if the output has no immutable metadata. */
export function readMetadata({ immutableFeatures = [] }: Output): Metadata | undefined {
  const data = immutableFeatures.find(({ type }) => type === METADATA_FEATURE)?.data;
  if (data === undefined || data.length % 2 !== 0) return undefined;
  const text = new TextDecoder().decode(fromHex(data));
  const json = parseObject(text);
  return { text, claims: json && readClaims(json) };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    // any bytes may be there
    return undefined;
  }
}

function readClaims(json: Record<string, unknown>): Claims {
  const claims: Claims = {
    traits: readTraits(json.attributes),
    royalties: readRoyalties(json.royalties),
  };
  for (const name of [
    'name',
    'description',
    'collectionName',
    'issuerName',
    'type',
    'uri',
  ] as const) {
    const value = json[name];
    if (typeof value === 'string' && value.trim() !== '') claims[name] = value;
  }
  return claims;
}

/**
 * Traits as IRC-27 has them, `[{trait_type, value}]`, and as Soonaverse wrote them,
 * `{props: {KEY: {label, value}}, stats: {…}}`.
 */
function readTraits(attributes: unknown): Trait[] {
  if (Array.isArray(attributes))
    return attributes.flatMap((each) => {
      const { trait_type: name, value } = asObject(each) ?? {};
      return toTrait(name, value);
    });
  const { props, stats } = asObject(attributes) ?? {};
  return [props, stats].flatMap((group) =>
    Object.values(asObject(group) ?? {}).flatMap((each) => {
      const { label, value } = asObject(each) ?? {};
      return toTrait(label, value);
    }),
  );
}

function toTrait(name: unknown, value: unknown): Trait[] {
  const isValue = ['string', 'number', 'boolean'].includes(typeof value);
  return typeof name === 'string' && isValue ? [{ name, value: String(value) }] : [];
}

function readRoyalties(royalties: unknown): Royalty[] {
  return Object.entries(asObject(royalties) ?? {}).flatMap(([address, share]) =>
    typeof share === 'number' && share >= 0 && share <= 1 ? [{ address, share }] : [],
  );
}

function asObject(json: unknown): Record<string, unknown> | undefined {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  return isObject ? (json as Record<string, unknown>) : undefined;
}
