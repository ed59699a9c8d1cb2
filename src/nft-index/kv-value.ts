/**
 * Values as they come back from KV (design §4): checked like any input, since anybody with access to the namespace can write there.
 */
import * as v from 'valibot';

/** What a read of a key returned. */
export type Copy<T> =
  | { kind: 'value'; value: T }
  | { kind: 'absent' }
  | { kind: 'malformed'; why: string };

/** 64 hex digits, an NFT's ID. */
export const NftId = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** 68 hex digits, an output's ID; null where the NFT was burned. */
export const Holder = v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{68}$/)));

export const MilestoneIndex = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
  v.maxValue(0xffff_ffff),
);

/** Unix milliseconds. */
export const Time = v.pipe(v.number(), v.integer(), v.minValue(0));

export function readCopy<T>(schema: v.GenericSchema<unknown, T>, text: string | null): Copy<T> {
  if (text === null) return { kind: 'absent' };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { kind: 'malformed', why: String(error) };
  }
  const result = v.safeParse(schema, json, { abortEarly: true });
  if (result.success) return { kind: 'value', value: result.output };
  const [issue] = result.issues;
  return { kind: 'malformed', why: `${v.getDotPath(issue) ?? 'value'}: ${issue.message}` };
}
