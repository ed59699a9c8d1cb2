/** Values of clients' requests, upstreams' answers and KV: integers and hex, as JSON. */
import * as v from 'valibot';

export const MAX_UINT32 = 0xffff_ffff;

export const uint32 = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_UINT32));

/**
 * A base token by HORNET's configuration and its `info`. The symbol is one word, as it stands behind
 * amounts, which have 20 digits at most.
 */
export const baseTokenSchema = v.strictObject(
  {
    name: v.pipe(v.string(), v.nonEmpty(), v.maxLength(100)),
    tickerSymbol: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,20}$/)),
    unit: v.pipe(v.string(), v.nonEmpty(), v.maxLength(100)),
    subunit: v.optional(v.pipe(v.string(), v.maxLength(100))),
    decimals: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(20)),
    useMetricPrefix: v.boolean(),
  },
  'must be the baseToken of a HORNET configuration',
);
export type BaseToken = v.InferOutput<typeof baseTokenSchema>;

/** 0x, or 0X, and so many hex digits. */
export function hex(digits: number) {
  return v.pipe(v.string(), v.regex(new RegExp(`^0[xX][0-9a-fA-F]{${digits}}$`)));
}

/** The hex digits of an ID in lower case, without 0x. */
export const digitsOf = (id: string): string => id.slice(2).toLowerCase();
