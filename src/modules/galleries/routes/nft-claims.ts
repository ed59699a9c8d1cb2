/**
 * Claims of an NFT's immutable metadata by IRC-27 (src/stardust/json/nft-claims.ts), if it has what
 * that standard requires.
 */
import * as json from '../../../http/openapi/json-schema.ts';
import { type NftClaims, readNftClaims } from '../../../stardust/json/nft-claims.ts';
import { FeatureType } from '../../../stardust/wire/feature.ts';
import type { NftOutput } from '../../../stardust/wire/output.ts';

/** Undefined unless the output has immutable metadata that is JSON of IRC-27. */
export function readClaims({ immutableFeatures }: NftOutput): NftClaims | undefined {
  const metadata = immutableFeatures.find((each) => each.type === FeatureType.Metadata);
  const claims = metadata && readNftClaims(metadata.data);
  return claims !== undefined && isIrc27(claims) ? claims : undefined;
}

function isIrc27({ standard, version, type, uri, name }: NftClaims): boolean {
  const required = [version, type, uri, name];
  return (
    standard === 'IRC27' &&
    required.every((each) => each !== undefined) &&
    /^v\d+\.\d+$/.test(version!)
  );
}

export function describeClaims(): json.JsonSchema {
  const attribute = json.objectOf({
    trait_type: json.textSchema,
    value: json.oneOf(json.textSchema, { type: 'number' }, { type: 'boolean' }),
  });
  return json.described(
    "What the NFT's own metadata claims by IRC-27. Nobody has checked it. Absent if the metadata is not JSON of that standard.",
    json.namedObject(
      'NFTClaims',
      {
        standard: { type: 'string', const: 'IRC27' },
        version: json.textSchema,
        type: json.described('Media type of the asset.', json.textSchema),
        uri: json.textSchema,
        name: json.textSchema,
      },
      {
        collectionName: json.textSchema,
        royalties: {
          type: 'object',
          additionalProperties: { type: 'number', minimum: 0, maximum: 1 },
          description: 'Shares by address.',
        },
        issuerName: json.textSchema,
        description: json.textSchema,
        attributes: json.arrayOf(json.named('NFTAttribute', attribute)),
      },
    ),
  );
}
