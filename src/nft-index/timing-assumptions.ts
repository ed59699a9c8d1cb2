/**
 * Times and assumptions about KV of the NFT index. Every answer that is not true by construction
 * rests on these three assumptions, and on nothing else (docs/nft-index.md):
 *
 * 1. Copies. A read of an entry never returns a value that a later put replaced
 *   {@link MAX_COPY_AGE_MS} ago or more, counted from that put's acknowledgement. Cloudflare
 *   documents "60 seconds or more" (https://developers.cloudflare.com/kv/concepts/how-kv-works/).
 *   Remembered absences, an isolate's memory of a read, and late backends of KV are copies too.
 * 2. Writers. A put lands, on whichever backend, within {@link MAX_WRITE_AGE_MS} of the reading
 *   from D1 that it carries. The publisher begins no put later than {@link PUT_WITHIN_MS} after
 *   the reading, and the platform ends any invocation that could still write after 15 minutes.
 * 3. Expiry. The entry of a burned NFT is put with an expiration time ({@link TOMBSTONE_TTL_S}). If
 *   it expires {@link MAX_COPY_AGE_MS} after its put or later, a read then returns it or nothing:
 *   by assumption 1 no copy and no backend still has a value from before that put.
 *
 * An NFT's change therefore stays in `recent` for 47 to 48 minutes: {@link PUT_AFTER_MS} until no
 * writer holds an older entry; then the entry is put; then {@link SETTLING_TIME_MS} until no copy
 * is older than that put. {@link MARK_INTERVAL_MS} is the rest.
 */
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** No copy of an entry is older: 30 times the minute that is documented. */
const MAX_COPY_AGE_MS = 30 * MINUTE_MS;

/** No put lands later after the reading from D1 that it carries. */
export const MAX_WRITE_AGE_MS = 15 * MINUTE_MS;

/** The clocks of two machines differ by no more. */
export const MAX_CLOCK_SKEW_MS = MINUTE_MS;

/** Milliseconds from the publisher's first sight of a change until it puts the entry. */
export const PUT_AFTER_MS = MAX_WRITE_AGE_MS + MAX_CLOCK_SKEW_MS;

/** Milliseconds from the acknowledgement of a put until every copy has it. */
export const SETTLING_TIME_MS = MAX_COPY_AGE_MS + MAX_CLOCK_SKEW_MS;

/** No put begins later after the reading from D1 that it carries. */
export const PUT_WITHIN_MS = MINUTE_MS;

/**
 * Seconds until the entry of a burned NFT expires: 60 days. By assumption 3 half an hour would do;
 * but D1 Time Travel sets a ledger back by up to 30 days
 * (https://developers.cloudflare.com/d1/reference/time-travel/), to when the NFT was there, and its
 * absence must not be taken for settled before the ledger has passed the burn again.
 */
export const TOMBSTONE_TTL_S = 60 * 24 * 60 * 60;

/** How often the publisher notes where the ledger stands. */
export const MARK_INTERVAL_MS = MINUTE_MS;

/** `recent` is put this often without changes: a quiet ledger is no stopped publisher. */
export const HEARTBEAT_MS = 30 * SECOND_MS;

/** KV takes one write a second to a key (https://developers.cloudflare.com/kv/platform/limits/). */
export const RECENT_PUT_INTERVAL_MS = SECOND_MS;

/**
 * A `recent` published longer ago answers nothing: its answer would be true, but D1 may know a
 * later one. A heartbeat, a copy of a minute and {@link RECENT_CACHE_S} make 95 s; the rest is for
 * a slow put and a slow pass. While the follower stands still, each lookup reads D1.
 */
export const MAX_RECENT_AGE_MS = 2 * MINUTE_MS;

/** Milliseconds that a lookup waits for KV, which mostly takes 10 to 100. */
export const MAX_READ_MS = 1_000;

/** How long an isolate remembers what it read from KV. */
export const REMEMBER_MS = SECOND_MS;

/** Seconds for which KV keeps a copy at a location: the least that it accepts. */
export const KV_CACHE_TTL_S = 30;

/** Seconds for which the Cache API keeps `recent` in a data centre. */
export const RECENT_CACHE_S = 5;
