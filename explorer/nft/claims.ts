/** What the metadata of an NFT claims (src/stardust/json/nft-claims.ts), as the page shows it. */
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
  const bytes = fromHex(data);
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
    // nothing to show
    if (value !== undefined && value.trim() !== '') claims[name] = value;
  }
  return claims;
}
