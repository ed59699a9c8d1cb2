/**
 * What every answer carries (docs/contract.md): CORS headers, a word to caches, no body for HEAD.
 */
import type { Answer } from './route.ts';

const COMMON_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Ledger-Index, X-Final-Milestone, X-Error-Detail, ETag, Retry-After',
  // Workers Cache keeps for two hours a 200 that does not forbid it:
  // https://developers.cloudflare.com/cache/concepts/default-cache-behavior/
  'cache-control': 'no-store',
};

/** Makes the response in one go: to set headers on a response that exists takes longer. */
export function toResponse(
  { status = 200, headers, body }: Answer,
  method: string,
  extraHeaders: Readonly<Record<string, string>> = {},
): Response {
  return new Response(method === 'HEAD' ? null : body, {
    status,
    headers: { ...COMMON_HEADERS, ...headers, ...extraHeaders },
  });
}
