/**
 * Values in KV, and the entry of one NFT. Each value is checked like any input: others may write to
 * the namespace, and in `serve` it is on a disk that may be damaged (docs/storage.md#kv-keys).
 */
import * as v from 'valibot';
import { checksum } from '../ledger/core/checksum.ts';
import { uint32 } from '../platform/json-schemas.ts';

export type KvRead<T> =
  | { kind: 'value'; value: T }
  | { kind: 'absent' }
  | { kind: 'malformed'; why: string };

/** 64 lower-case hex digits. */
export const NftId = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** The ID of the output that holds an NFT, 68 lower-case hex digits; null: the NFT was burned. */
export const OutputIdOrBurned = v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{68}$/)));

/** Milliseconds since 1970. */
export const UnixMs = v.pipe(v.number(), v.integer(), v.minValue(0));

/** Writes a value: JSON behind its checksum (docs/nft-index.md#the-format-of-values). */
export function writeKvValue(value: unknown): string {
  const json = JSON.stringify(value);
  return `${sumOf(json)} ${json}`;
}

const sumOf = (json: string): number => checksum(new TextEncoder().encode(json));

/** @param text what KV returned; null where it has no such key */
export function readKvValue<T>(
  schema: v.GenericSchema<unknown, T>,
  text: string | null,
): KvRead<T> {
  if (text === null) return { kind: 'absent' };
  const start = text.indexOf(' ') + 1;
  const body = text.slice(start);
  if (text.slice(0, start) !== `${sumOf(body)} `)
    return { kind: 'malformed', why: 'checksum is wrong or missing' };
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    return { kind: 'malformed', why: String(error) };
  }
  const result = v.safeParse(schema, json, { abortEarly: true });
  if (result.success) return { kind: 'value', value: result.output };
  const [issue] = result.issues;
  return { kind: 'malformed', why: `${v.getDotPath(issue) ?? 'value'}: ${issue.message}` };
}

export interface IndexReader {
  /** @returns null where there is no such key */
  get(key: string, options: { type: 'text'; cacheTtl: number }): Promise<string | null>;
}

/**
 * Entry of one NFT: its ID, the output that holds it, and the ledger index of the reading from D1.
 * No change up to there is missing, which the index of the NFT's last change would not say. The
 * entry of a burned NFT has no output, and expires long after every copy has it (`TOMBSTONE_TTL_S`
 * in timing-assumptions.ts); it is never deleted, as copies from before the burn could outlive it.
 */
const Entry = v.strictObject({
  nft: NftId,
  /** Names the ledger's import (`head.generation`). An entry of another ledger says nothing. */
  generation: v.string(),
  ledgerIndex: uint32,
  outputId: OutputIdOrBurned,
});
export type Entry = v.InferOutput<typeof Entry>;

/** @param nftId 64 lower-case hex digits */
export const entryKey = (nftId: string): string => `nft:${nftId}`;

export const writeEntry = (entry: Entry): string => writeKvValue(entry satisfies Entry);

/** @param text what KV has under the key of this NFT */
export function readEntry(nftId: string, text: string | null): KvRead<Entry> {
  const read = readKvValue(Entry, text);
  return read.kind === 'value' && read.value.nft !== nftId
    ? { kind: 'malformed', why: 'entry is of another NFT' }
    : read;
}
