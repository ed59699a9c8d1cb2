/**
 * What every answer carries (design §1): CORS headers, a word to caches, no body for HEAD.
 */
import type { Answer } from './route.ts';

const COMMON_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'X-Ledger-Index, X-Error-Detail, ETag, Retry-After',
  // Workers Cache keeps for hours what does not forbid it (platform.md §4)
  'cache-control': 'no-store',
};

/** Makes the response in one go, so that no header has to be set on one that is there. */
export function complete(
  { status = 200, headers, body }: Answer,
  method: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  return new Response(method === 'HEAD' ? null : body, {
    status,
    headers: { ...COMMON_HEADERS, ...headers, ...more },
  });
}
