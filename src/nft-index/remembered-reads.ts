/**
 * What an isolate remembers of KV (design §1): copies for at most a second, and of `recent` the checked value for as long as KV returns the same text, so that
 * it is taken apart once a copy and not once a request.
 */

import { type Entry, readEntry } from './kv-entry.ts';
import type { Copy } from './kv-value.ts';
import { type Recent, readRecent } from './recent-changes.ts';
import { REMEMBERED } from './timing-assumptions.ts';

/** Entries are some 200 bytes; which ones are asked for is up to anonymous clients. */
const MAX_ENTRIES = 1_000;

export class Memory {
  #recent: { at: number; text: string | null; copy: Copy<Recent> } | undefined;
  readonly #entries = new Map<string, { at: number; copy: Copy<Entry> }>();

  recent(now: number): Copy<Recent> | undefined {
    return isFresh(this.#recent, now) ? this.#recent.copy : undefined;
  }

  entry(nftId: string, now: number): Copy<Entry> | undefined {
    const kept = this.#entries.get(nftId);
    return isFresh(kept, now) ? kept.copy : undefined;
  }

  /** @param at when the reading began */
  keepRecent(text: string | null, at: number): Copy<Recent> {
    const copy = text === this.#recent?.text ? this.#recent.copy : readRecent(text);
    this.#recent = { at, text, copy };
    return copy;
  }

  keepEntry(nftId: string, text: string | null, at: number): Copy<Entry> {
    const copy = readEntry(text);
    this.#entries.delete(nftId); // so that it counts as the latest
    this.#entries.set(nftId, { at, copy });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) break;
      this.#entries.delete(oldest);
    }
    return copy;
  }
}

/** A clock that went back has nothing fresh. */
function isFresh<T extends { at: number }>(kept: T | undefined, now: number): kept is T {
  return kept !== undefined && now >= kept.at && now - kept.at < REMEMBERED;
}
