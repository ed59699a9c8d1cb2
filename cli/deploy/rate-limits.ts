/**
 * The rate limits of a deployed Worker, for each client address and location. With them one address
 * costs less than a dollar an hour, by all routes together (docs/cloudflare.md#what-a-stranger-can-cost).
 */

/** Requests in 60 seconds, by the name of the binding (docs/operations.md#rate-limits). */
export const REQUESTS_A_MINUTE = {
  WHITE_FLAG_LIMIT: 40,
  SCAN_LIMIT: 20,
  EVENTS_LIMIT: 60,
  FETCH_LIMIT: 900,
  READ_LIMIT: 500,
} as const;

export type LimitBinding = keyof typeof REQUESTS_A_MINUTE;

interface RateLimitTable {
  name: string;
  namespace_id: string;
  simple: { limit: number; period: number };
}

/**
 * Above those that wrangler.toml names in its comments. A namespace is of the whole account: what
 * one environment counts must not be counted for the other.
 */
const FIRST_NAMESPACE = { production: 4001, other: 4101 };

/** Those of wrangler.toml, and the others. @param environment empty for production */
export function completeLimits(
  own: readonly RateLimitTable[] = [],
  environment = '',
): RateLimitTable[] {
  const first = FIRST_NAMESPACE[environment === '' ? 'production' : 'other'];
  const added = Object.entries(REQUESTS_A_MINUTE).map(([name, limit], i) => ({
    name,
    namespace_id: String(first + i),
    simple: { limit, period: 60 },
  }));
  return [...own, ...added.filter(({ name }) => !own.some((each) => each.name === name))];
}
