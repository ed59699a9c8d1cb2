/**
 * A limit on requests from one address, where a rate limit is bound: counted in each location,
 * approximately (https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/).
 */
import { HttpError } from './errors.ts';

/** The longer of the two periods that Cloudflare has; the binding does not tell which one it is. */
const RETRY_AFTER_SECONDS = '60';

export async function checkRate(limit: RateLimit | undefined, request: Request): Promise<void> {
  if (limit === undefined) return;
  const { success } = await limit.limit({
    key: request.headers.get('cf-connecting-ip') ?? 'unknown',
  });
  if (!success)
    throw new HttpError(429, 'wait before the next request', {
      'retry-after': RETRY_AFTER_SECONDS,
    });
}
