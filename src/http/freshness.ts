/**
 * Freshness of answers (docs/contract.md#caching): what caches are told, and how long `npm run
 * serve` keeps an answer in memory (read-cache.ts).
 */

/** A client that has seen a later ledger requires at least that one (docs/contract.md#headers). */
export const MIN_LEDGER_INDEX = 'x-min-ledger-index';

interface Freshness {
  cacheControl: string;
  inMemory: 'no' | 'second' | 'import' | 'evicted';
  /** Whether an answer may be kept for a day once the ledger is over. */
  endsWithLedger: boolean;
}

const DAY_SECONDS = 86_400;

export const FRESHNESS = {
  /** Changes all the time, or is an answer to POST. */
  never: { cacheControl: 'no-store', inMemory: 'no', endsWithLedger: false },
  /** May change with each milestone, and nothing but X-Ledger-Index says which one it is of. */
  none: { cacheControl: 'no-store', inMemory: 'no', endsWithLedger: true },
  /** Kept like `none`, but `serve` may give a copy that is a second old. */
  second: { cacheControl: 'no-store', inMemory: 'second', endsWithLedger: true },
  /**
   * True at the ledger index that it names: a copy gets older, not wrong. Without s-maxage, which
   * would switch stale-while-revalidate off in Cloudflare's cache.
   */
  ledger: {
    cacheControl: 'public, max-age=5, stale-while-revalidate=10, stale-if-error=0',
    inMemory: 'second',
    endsWithLedger: true,
  },
  /** An applied milestone, in words that another version may put differently. */
  import: { cacheControl: 'no-store', inMemory: 'import', endsWithLedger: false },
  /**
   * A milestone, or what one made of a block: it never changes, but another network under the same
   * URL has other milestones, and another import other signatures. Also of a ledger that is over.
   * Without stale-if-error Cloudflare's cache answers an error by a copy of any age.
   */
  index: {
    cacheControl: `public, max-age=${DAY_SECONDS}, immutable, stale-if-error=0`,
    inMemory: 'import',
    endsWithLedger: false,
  },
  /** Named by an ID, which fixes the content. */
  id: {
    cacheControl: `public, max-age=${365 * DAY_SECONDS}, immutable`,
    inMemory: 'evicted',
    endsWithLedger: false,
  },
} as const satisfies Record<string, Freshness>;

export type Keep = keyof typeof FRESHNESS;

/**
 * Returns the header Cache-Control of a 200 or 304. No cache but our own may keep an answer to a
 * client that required a ledger index: not every cache obeys `Vary`.
 *
 * @param isFinal whether the answer is of a ledger that is over
 */
export function cacheControlOf(keep: Keep, { headers }: Request, isFinal: boolean): string {
  const { cacheControl, endsWithLedger } = FRESHNESS[keep];
  if (endsWithLedger && headers.has(MIN_LEDGER_INDEX)) return FRESHNESS.never.cacheControl;
  return isFinal && endsWithLedger ? FRESHNESS.index.cacheControl : cacheControl;
}
