/**
 * What the immutable metadata of an NFT claims by IRC-27
 * (https://github.com/iotaledger/tips/blob/main/tips/TIP-0027/tip-0027.md). Anybody may write
 * anything there: nothing of it is a fact of the ledger.
 */
import * as v from 'valibot';
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

/** A field that may be missing, and counts as missing where it has another form. */
function lenient<T extends v.GenericSchema>(schema: T) {
  return v.fallback(v.optional(schema), undefined);
}

/** Shares by address. */
const Royalties = v.pipe(
  v.custom<object>((value) => !Array.isArray(value)),
  v.record(v.string(), v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
);

/** What IRC-27 requires must be there; fields that it does not know are dropped. */
const Irc27 = v.object({
  standard: v.literal('IRC27'),
  version: v.pipe(v.string(), v.regex(/^v\d+\.\d+$/)),
  type: v.string(),
  uri: v.string(),
  name: v.string(),
  collectionName: lenient(v.string()),
  royalties: lenient(Royalties),
  issuerName: lenient(v.string()),
  description: lenient(v.string()),
  attributes: lenient(
    v.array(
      v.object({ trait_type: v.string(), value: v.union([v.string(), v.number(), v.boolean()]) }),
    ),
  ),
});

export type NftClaims = v.InferOutput<typeof Irc27>;

/** Undefined unless the output has immutable metadata that is JSON of IRC-27. */
export function readClaims({ immutableFeatures }: NftOutput): NftClaims | undefined {
  const metadata = immutableFeatures.find((each) => each.type === FeatureType.Metadata);
  if (metadata === undefined) return undefined;
  const result = v.safeParse(Irc27, parseJson(metadata.data));
  return result.success ? result.output : undefined;
}

/** Undefined where the bytes are not JSON in UTF-8. */
function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
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
