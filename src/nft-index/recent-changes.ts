/**
 * `recent`: one value in KV with every NFT change that entries may lack (docs/storage.md#kv-keys).
 * Its size is bounded: the last {@link MAX_STATES} changed NFTs have their states in it. If more
 * changed, it also has a prefix of each changed NFT's ID, and a lookup with such a prefix queries
 * D1: with 50,000 prefixes, one lookup in 86,000 of an unchanged NFT does so without need. Beyond
 * {@link MAX_WINDOW_CHANGES} it covers the last milestones only, and D1 answers nearly all lookups.
 *
 * Measured with Node 26 on two busy cores, text to checked value, once for each copy: 1,000 states,
 * 140 KB, 1.2 ms; with 50,000 prefixes, 540 KB, 2.7 ms. To search 50,000 prefixes takes 0.2 ms. KV
 * takes 25 MiB a value.
 */
import * as v from 'valibot';
import { uint32 } from '../platform/json-schemas.ts';
import {
  type KvRead,
  NftId,
  OutputIdOrBurned,
  readKvValue,
  UnixMs,
  writeKvValue,
} from './kv-values.ts';

export const RECENT_KEY = 'recent';

/** A change takes 140 bytes as a state and 8 as a prefix. */
export const MAX_STATES = 1_000;

/**
 * Changes that are read, and looked up among the NFTs, each time the ledger moves: 0.3 s on two busy
 * cores, for a row of 0.6 of 2 MB.
 */
export const MAX_WINDOW_CHANGES = 50_000;

/** Hex digits of an NFT ID in a prefix. */
export const PREFIX_LENGTH = 8;

const StoredRecent = v.pipe(
  v.strictObject({
    generation: v.string(),
    /** The changes after this milestone … */
    from: uint32,
    /** … up to this one are covered, all of them. The states are those at `to`. */
    to: uint32,
    /** Entries from before this milestone are of an earlier filling, and do not count. */
    filledFrom: uint32,
    /**
     * Unix milliseconds since which no entry lacks a change up to `from`; null while incomplete.
     */
    fromTime: v.nullable(UnixMs),
    /** Unix milliseconds at which, or later, it was read from D1. */
    publishedAt: UnixMs,
    /** NFT ID → output ID; null: burned. */
    answers: v.pipe(
      // valibot takes an empty list for an empty record
      v.custom<Record<string, string | null>>((value) => !Array.isArray(value), 'a list'),
      v.record(NftId, OutputIdOrBurned),
    ),
    /** Prefixes of changed NFTs' IDs, one after the other; may include those of `answers`. */
    others: v.pipe(
      v.string(),
      v.check(
        (prefixes) => prefixes.length % PREFIX_LENGTH === 0 && !/[^0-9a-f]/.test(prefixes),
        'not a list of prefixes',
      ),
    ),
  }),
  v.check(({ from, to }) => from <= to, 'from after to'),
);

const Recent = v.pipe(
  StoredRecent,
  v.transform(({ answers, others, ...range }) => ({
    ...range,
    states: answers,
    prefixes: others,
  })),
);
export type Recent = v.InferOutput<typeof Recent>;

export function writeRecent({ states, prefixes, ...range }: Recent): string {
  const stored = { ...range, answers: states, others: prefixes };
  return writeKvValue(stored satisfies v.InferOutput<typeof StoredRecent>);
}

export const readRecent = (text: string | null): KvRead<Recent> => readKvValue(Recent, text);

/** @returns an output ID; null: burned; undefined: `states` does not have the NFT */
export function findState({ states }: Recent, nftId: string): string | null | undefined {
  return Object.hasOwn(states, nftId) ? states[nftId] : undefined;
}

/** Whether `prefixes` has the NFT's prefix. Searching the text is faster than making a set. */
export function hasPrefixOf({ prefixes }: Recent, nftId: string): boolean {
  const prefix = nftId.slice(0, PREFIX_LENGTH);
  for (let at = prefixes.indexOf(prefix); at !== -1; at = prefixes.indexOf(prefix, at + 1)) {
    if (at % PREFIX_LENGTH === 0) return true;
  }
  return false;
}
