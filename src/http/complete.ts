/**
 * What every answer carries (design §1): CORS headers, a word to caches, no body for HEAD.
 */
const CORS_HEADERS = [
  ['access-control-allow-origin', '*'],
  ['access-control-expose-headers', 'X-Ledger-Index, X-Error-Detail, ETag'],
] as const;

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
  'access-control-allow-headers': 'content-type, if-none-match',
  'access-control-max-age': '86400',
};

export function makePreflightResponse(): Response {
  return new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
}

/** Changes the response that it is given: a copy of it would cost more than all of these headers. */
export function complete(response: Response, method: string, more: Readonly<Record<string, string>> = {}): Response {
  const { headers, status } = response;
  for (const [name, value] of [...CORS_HEADERS, ...Object.entries(more)]) headers.set(name, value);
  // Workers Cache keeps for hours what does not forbid it (platform.md §4)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  return method === 'HEAD' ? new Response(null, { status, headers }) : response;
}
