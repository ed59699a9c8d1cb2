/**
 * The rate limits of a deployed Worker, for each client address and location. With them one address
 * costs less than a dollar an hour, by all routes together (docs/cloudflare.md#what-a-stranger-can-cost).
 */

/** Requests in 60 seconds, by the name of the binding (docs/operations.md#rate-limits). */
export const REQUESTS_A_MINUTE = {
  WHITE_FLAG_LIMIT: 60,
  SCAN_LIMIT: 20,
  EVENTS_LIMIT: 60,
  FETCH_LIMIT: 1800,
  READ_LIMIT: 1200,
} as const;

export type LimitBinding = keyof typeof REQUESTS_A_MINUTE;

interface RateLimitTable {
  name: string;
  namespace_id: string;
  simple: { limit: number; period: number };
}

/** Above those that wrangler.toml names in its comments. */
const FIRST_NAMESPACE = 4001;

/** Those of wrangler.toml, and the others. */
export function completeLimits(own: readonly RateLimitTable[] = []): RateLimitTable[] {
  const added = Object.entries(REQUESTS_A_MINUTE).map(([name, limit], i) => ({
    name,
    namespace_id: String(FIRST_NAMESPACE + i),
    simple: { limit, period: 60 },
  }));
  return [...own, ...added.filter(({ name }) => !own.some((each) => each.name === name))];
}
