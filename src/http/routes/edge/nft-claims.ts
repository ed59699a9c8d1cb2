/**
 * Claims of an NFT's immutable metadata by IRC-27 (src/stardust/json/nft-claims.ts), if it has what
 * that standard requires.
 */
import { type NftClaims, readNftClaims } from '../../../stardust/json/nft-claims.ts';
import { FeatureType } from '../../../stardust/wire/feature.ts';
import type { NftOutput } from '../../../stardust/wire/output.ts';
import {
  arrayOf,
  described,
  type JsonSchema,
  named,
  objectOf,
  oneOf,
  textSchema,
} from '../../openapi/json-schema.ts';

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

export function describeClaims(): JsonSchema {
  const attribute = objectOf({
    trait_type: textSchema,
    value: oneOf(textSchema, { type: 'number' }, { type: 'boolean' }),
  });
  return described(
    "What the NFT's own metadata claims by IRC-27. Nobody has checked it. Absent if the metadata is not JSON of that standard.",
    named(
      'NFTClaims',
      objectOf(
        {
          standard: { type: 'string', const: 'IRC27' },
          version: textSchema,
          type: described('Media type of the asset.', textSchema),
          uri: textSchema,
          name: textSchema,
        },
        {
          collectionName: textSchema,
          royalties: {
            type: 'object',
            additionalProperties: { type: 'number', minimum: 0, maximum: 1 },
            description: 'Shares by address.',
          },
          issuerName: textSchema,
          description: textSchema,
          attributes: arrayOf(named('NFTAttribute', attribute)),
        },
      ),
    ),
  );
}
