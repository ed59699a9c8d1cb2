/**
 * Reading values out of KV. Anybody with access to the namespace can write there, so each value is
 * checked like any input (docs/storage.md#kv-keys).
 */
import * as v from 'valibot';

/** What a read of a key returned. */
export type KvRead<T> =
  | { kind: 'value'; value: T }
  | { kind: 'absent' }
  | { kind: 'malformed'; why: string };

/** 64 lower-case hex digits. */
export const NftId = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** The ID of the output that holds an NFT, 68 lower-case hex digits; null: the NFT was burned. */
export const OutputIdOrBurned = v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{68}$/)));

export const LedgerIndex = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff));

/** Milliseconds since 1970. */
export const UnixMs = v.pipe(v.number(), v.integer(), v.minValue(0));

/** @param text what KV returned; null where it has no such key */
export function readKvValue<T>(
  schema: v.GenericSchema<unknown, T>,
  text: string | null,
): KvRead<T> {
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
