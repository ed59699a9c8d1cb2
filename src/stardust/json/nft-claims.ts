/**
 * Claims of an NFT's immutable metadata by IRC-27
 * (https://github.com/iotaledger/tips/blob/main/tips/TIP-0027/tip-0027.md). Anybody may write
 * anything there. Each field is read for itself, and a malformed one is left out.
 */

/** A trait by IRC-27. */
export interface NftTrait {
  trait_type: string;
  value: string | number | boolean;
}

export interface NftClaims {
  standard?: string;
  version?: string;
  /** Media type of what `uri` names. */
  type?: string;
  uri?: string;
  name?: string;
  collectionName?: string;
  /** Shares by address, 0 to 1. */
  royalties?: Record<string, number>;
  issuerName?: string;
  description?: string;
  attributes?: NftTrait[];
}

/** Undefined unless the bytes are a JSON object in UTF-8. */
export function readNftClaims(metadata: Uint8Array): NftClaims | undefined {
  const json = asFields(parseMetadata(metadata));
  if (json === undefined) return undefined;
  const { standard, version, type, uri, name } = json;
  const { collectionName, issuerName, description } = json;
  const royalties = Object.entries(asFields(json.royalties) ?? {}).filter(isRoyalty);
  const attributes = readTraits(json);
  return {
    ...textsOf({ standard, version, type, uri, name, collectionName }),
    ...(royalties.length > 0 && { royalties: Object.fromEntries(royalties) }),
    ...textsOf({ issuerName, description }),
    ...(attributes.length > 0 && { attributes }),
  };
}

function parseMetadata(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // any bytes may be there
    return undefined;
  }
}

function textsOf<N extends string>(fields: Record<N, unknown>): { [K in N]?: string } {
  const texts = Object.entries(fields).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts) as { [K in N]?: string };
}

function isRoyalty(entry: [string, unknown]): entry is [string, number] {
  const [address, share] = entry;
  return address !== '__proto__' && typeof share === 'number' && share >= 0 && share <= 1;
}

/**
 * Reads traits as IRC-27 has them, `[{trait_type, value}]`, and as Soonaverse wrote them, `{props:
 * {KEY: {label, value}}, stats: {…}}`, beside the other fields or in `attributes`.
 */
function readTraits({ attributes, ...others }: Record<string, unknown>): NftTrait[] {
  if (Array.isArray(attributes))
    return attributes.flatMap((each) => {
      const { trait_type, value } = asFields(each) ?? {};
      return toTrait(trait_type, value);
    });
  const { props, stats } = asFields(attributes) ?? others;
  return [props, stats].flatMap((group) =>
    Object.values(asFields(group) ?? {}).flatMap((each) => {
      const { label, value } = asFields(each) ?? {};
      return toTrait(label, value);
    }),
  );
}

function toTrait(trait_type: unknown, value: unknown): NftTrait[] {
  const isText = typeof trait_type === 'string';
  const isValue = typeof value === 'string' || Number.isFinite(value) || typeof value === 'boolean';
  return isText && isValue ? [{ trait_type, value: value as NftTrait['value'] }] : [];
}

function asFields(json: unknown): Record<string, unknown> | undefined {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  return isObject ? (json as Record<string, unknown>) : undefined;
}
