/**
 * Answers OPTIONS, on every path: a browser asks before it lets a page of another origin send more
 * than a plain GET or POST (https://fetch.spec.whatwg.org/#http-cors-protocol). A preflight may
 * name any request header, and gets the names back as allowed, as in HORNET: clients set headers
 * that no list foresees, and the wildcard does not stand for Authorization. That gives nothing
 * away: the origin is `*`, so browsers send no credentials of their own.
 */
import type { Answer } from '../answer.ts';

/** Allowed where nothing is asked for, or nothing that is a list of header names. */
const DEFAULT_ALLOWED_HEADERS = 'content-type, if-none-match';

const MAX_ASKED_CHARACTERS = 1024;

/** Header names are tokens: RFC 9110 §5.1 and §5.6.2. Matches in linear time. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const TOKEN_LIST = new RegExp(`^${TOKEN}(?:[ \\t]*,[ \\t]*${TOKEN})*$`);

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
