/** What the metadata of an NFT claims (src/stardust/json/nft-claims.ts), as the page shows it. */
import { isVisible } from '../../client/words/amounts.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { type NftClaims, readNftClaims } from '../../src/stardust/json/nft-claims.ts';
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

export interface Claims extends Omit<NftClaims, 'attributes' | 'royalties'> {
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

type Features = NonNullable<Output['features']>;

function bytesIn(features: Features): Uint8Array | undefined {
  const data = features.find(({ type }) => type === METADATA_FEATURE)?.data;
  return data === undefined || data.length % 2 !== 0 ? undefined : fromHex(data);
}

/** Metadata that whoever can unlock the NFT may change, as text; undefined if there is none. */
export function readChangeable({ features = [] }: Output): string | undefined {
  const bytes = bytesIn(features);
  return bytes && new TextDecoder().decode(bytes);
}

/** Undefined if the output has no immutable metadata. */
export function readMetadata({ immutableFeatures = [] }: Output): Metadata | undefined {
  const bytes = bytesIn(immutableFeatures);
  if (bytes === undefined) return undefined;
  const claims = readNftClaims(bytes);
  return { text: new TextDecoder().decode(bytes), claims: claims && toShow(claims) };
}

function toShow(claimed: NftClaims): Claims {
  const { attributes = [], royalties = {} } = claimed;
  const claims: Claims = {
    traits: attributes.map(({ trait_type: name, value }) => ({ name, value: String(value) })),
    royalties: Object.entries(royalties).map(([address, share]) => ({ address, share })),
  };
  for (const name of [
    'name',
    'description',
    'collectionName',
    'issuerName',
    'type',
    'uri',
  ] as const) {
    const value = claimed[name];
    if (value !== undefined && isVisible(value)) claims[name] = value;
  }
  return claims;
}
