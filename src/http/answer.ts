/**
 * A handler's answer, and the response that the Worker makes of it (docs/contract.md): every
 * response has CORS headers and a Cache-Control, a response to HEAD has no body.
 */
import type { Keep } from './freshness.ts';

export const COMMON_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Ledger-Index, X-Final-Milestone, X-Error-Detail, ETag, Retry-After',
  // Workers Cache keeps for two hours a 200 that does not forbid it:
  // https://developers.cloudflare.com/cache/concepts/default-cache-behavior/
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** An answer without what every answer carries. */
export interface Answer {
  /** Freshness, if it is not that of the route. */
  keep?: Keep;
  /** The ledger index at which it is true: X-Ledger-Index. */
  ledgerIndex?: number | undefined;
  /** Default: 200. */
  status?: number;
  /** State of one object: distinct from every other that it may have (ledger-answer.ts). */
  state?: string;
  headers?: Readonly<Record<string, string>>;
  body: string | Uint8Array | null;
  /** Socket of an answer with status 101. */
  webSocket?: WebSocket;
}

/** @param others what the answer has besides its body */
export function jsonAnswer(value: unknown, others: Omit<Answer, 'body'> = {}): Answer {
  return {
    ...others,
    body: JSON.stringify(value),
    headers: { 'content-type': 'application/json', ...others.headers },
  };
}

/** Makes the response in one go: to set headers on a response that exists takes longer. */
export function toResponse(
  { status = 200, headers, body, webSocket }: Answer,
  method: string,
  extraHeaders: Readonly<Record<string, string>> = {},
): Response {
  return new Response(method === 'HEAD' ? null : body, {
    status,
    headers: { ...COMMON_HEADERS, ...headers, ...extraHeaders },
    ...(webSocket && { webSocket }),
  });
}

/** Allowed where nothing is asked for, or nothing that is a list of header names. */
const DEFAULT_ALLOWED_HEADERS = 'content-type, if-none-match';

const MAX_ASKED_CHARACTERS = 1024;

/** Header names are tokens: RFC 9110 §5.1 and §5.6.2. Matches in linear time. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const TOKEN_LIST = new RegExp(`^${TOKEN}(?:[ \\t]*,[ \\t]*${TOKEN})*$`);

/**
 * Answers OPTIONS, on every path: a browser asks before it lets a page of another origin send more
 * than a plain GET or POST (https://fetch.spec.whatwg.org/#http-cors-protocol). A preflight may
 * name any request header, and gets the names back as allowed, as in HORNET: clients set headers
 * that no list foresees, and the wildcard does not stand for Authorization. That gives nothing
 * away: the origin is `*`, so browsers send no credentials of their own.
 */
export function answerPreflight(headers: Pick<Headers, 'get'>): Answer {
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
      'access-control-allow-headers': allowHeaders(headers.get('access-control-request-headers')),
      'access-control-max-age': '86400',
      vary: 'Access-Control-Request-Headers',
    },
    body: null,
  };
}

function allowHeaders(asked: string | null): string {
  if (asked === null || asked.length > MAX_ASKED_CHARACTERS) return DEFAULT_ALLOWED_HEADERS;
  return TOKEN_LIST.test(asked) ? asked : DEFAULT_ALLOWED_HEADERS;
}
