/**
 * An isolate's memory of reads from KV, for at most a second each. The checked value of `recent` is
 * kept as long as KV returns the same text, so each copy is parsed once.
 */
import { createBoundedMap } from '../platform/bounded-map.ts';
import { type Entry, type KvRead, readEntry } from './kv-values.ts';
import { type Recent, readRecent } from './recent-changes.ts';
import { REMEMBER_MS } from './timing-assumptions.ts';

/** An entry takes some 200 bytes. Anonymous clients decide which ones are asked for. */
const MAX_ENTRIES = 1_000;

export class RememberedReads {
  #recent: { at: number; text: string | null; read: KvRead<Recent> } | undefined;
  readonly #entries = createBoundedMap<{ at: number; read: KvRead<Entry> }>(MAX_ENTRIES);

  /** @returns undefined where nothing fresh is remembered */
  recent(now: number): KvRead<Recent> | undefined {
    return isFresh(this.#recent, now) ? this.#recent.read : undefined;
  }

  /** @returns undefined where nothing fresh is remembered */
  entry(nftId: string, now: number): KvRead<Entry> | undefined {
    const kept = this.#entries.get(nftId);
    return isFresh(kept, now) ? kept.read : undefined;
  }

  /** @param at when the reading began, Unix milliseconds */
  keepRecent(text: string | null, at: number): KvRead<Recent> {
    const read = text === this.#recent?.text ? this.#recent.read : readRecent(text);
    this.#recent = { at, text, read };
    return read;
  }

  /** @param at when the reading began, Unix milliseconds */
  keepEntry(nftId: string, text: string | null, at: number): KvRead<Entry> {
    const read = readEntry(nftId, text);
    this.#entries.set(nftId, { at, read });
    return read;
  }
}

/** A read is not fresh if the clock went back since. */
function isFresh<T extends { at: number }>(kept: T | undefined, now: number): kept is T {
  return kept !== undefined && now >= kept.at && now - kept.at < REMEMBER_MS;
}
