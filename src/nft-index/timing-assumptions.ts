/**
 * The times that the index counts on, in milliseconds (design §4), and what is assumed.
 *
 * Two assumptions about KV carry every answer that is not true by construction, nothing else does:
 * 1. Copies: a read of an entry returns nothing that a later, acknowledged put replaced {@link COPY_AGE} ago or more. The documentation says "60 seconds or
 *    more" (platform.md §1). Remembered absences count as copies, so does the second that an isolate remembers, so does a backend that gets a put late.
 * 2. Writers: a put lands, wherever it lands, within {@link WRITE_AGE} of the reading from D1 that it carries. The publisher gives up entries that it has
 *    held for {@link PUT_WITHIN}, and the platform ends any invocation that could still write after 15 minutes. (Entries put in bulk, before their ledger is there,
 *    count from the moment it is.)
 *
 * A change stands in `recent` while entries may lack it: {@link AGAIN_AFTER} until no writer holds an older entry, then its entry is put again from D1, then
 * {@link SETTLED} until no copy is older than that. With {@link MARK_EVERY} that makes 47 to 48 minutes.
 */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** W of the design: no copy of an entry is older. 30 times the documented minute. */
export const COPY_AGE = 30 * MINUTE;

/** No put lands later after its reading from D1. */
export const WRITE_AGE = 15 * MINUTE;

/** So far apart may the clocks of two machines be. */
export const CLOCKS = MINUTE;

/** From a change's first sight until its entry is put again. */
export const AGAIN_AFTER = WRITE_AGE + CLOCKS;

/** From a put until all copies have it. */
export const SETTLED = COPY_AGE + CLOCKS;

/** Entries read from D1 that long ago are not put any more. */
export const PUT_WITHIN = MINUTE;

/** Changes are told apart by time in such steps, which bounds the publisher's state to some fifty marks. */
export const MARK_EVERY = MINUTE;

/** `recent` is put so often even when nothing changed, so that a reader can tell a quiet ledger from a publisher that stands still. */
export const HEARTBEAT = 30 * SECOND;

/** KV takes one write a second to a key. */
export const BETWEEN_PUTS = SECOND;

/**
 * An older `recent` is not answered from: its answers would be true, but D1 may have later ones. A heartbeat and a copy of a documented minute make 90 s; the
 * rest is for a put and a pass of the follower that take their time. A follower that stands still costs a read of D1 a lookup, not an answer.
 */
export const RECENT_AGE = 2 * MINUTE;

/** How long an isolate remembers what it read from KV (design §1). */
export const REMEMBERED = SECOND;

/** Seconds for which a location keeps a copy, the least that KV takes. */
export const CACHE_TTL = 30;
