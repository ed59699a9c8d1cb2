/**
 * Answers that are true at the ledger index that they name (docs/contract.md#caching). So caches
 * may keep them for seconds: they get older, not wrong. There is no s-maxage, as that would switch
 * stale-while-revalidate off in Cloudflare's cache.
 */
import type { Answer } from './answer.ts';
import { HttpError } from './errors.ts';
import { parseMilestoneIndex } from './schemas.ts';

/** A client that has seen a later ledger requires at least that one (docs/contract.md#headers). */
export const MIN_LEDGER_INDEX = 'x-min-ledger-index';

const CACHE_CONTROL = 'public, max-age=5, stale-while-revalidate=10, stale-if-error=0';

/** Hex digits of a body's hash that stand in its tag. */
const TAG_DIGITS = 16;

/**
 * 200 with the value as JSON, or 304 where the client has it.
 *
 * @param tag what tells the value from others of the same URL, without quotes and commas
 * @param vary headers besides X-Min-Ledger-Index by which one URL has several bodies
 */
export function ledgerAnswer(
  request: Request,
  value: unknown,
  tag: string,
  vary: readonly string[] = [],
): Answer {
  return taggedAnswer(request, JSON.stringify(value), tag, vary);
}

/** The same for a value that nothing shorter stands for: its tag is made of a hash. */
export async function hashedAnswer(
  request: Request,
  value: { ledgerIndex: number },
): Promise<Answer> {
  const json = JSON.stringify(value);
  return taggedAnswer(request, json, `${value.ledgerIndex}-${await hashText(json)}`);
}

/** The digits for a tag that stand for a text. */
export async function hashText(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex().slice(0, TAG_DIGITS);
}

function taggedAnswer(
  request: Request,
  json: string,
  tag: string,
  vary: readonly string[] = [],
): Answer {
  const etag = `W/"${tag}"`;
  const headers = {
    'content-type': 'application/json',
    etag,
    'cache-control': CACHE_CONTROL,
    vary: [MIN_LEDGER_INDEX, ...vary].join(', '),
  };
  return revalidate(request, { headers, body: json });
}

/**
 * No cache but our own may keep what a client got that required a minimum: not every cache obeys
 * `Vary`.
 */
export function forbidStoring(request: Request, answer: Answer): Answer {
  const isFor = answer.headers?.vary?.startsWith(MIN_LEDGER_INDEX) ?? false;
  if (!isFor || !request.headers.has(MIN_LEDGER_INDEX)) return answer;
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } };
}

/** Returns 304 if the request's If-None-Match names the tag of a 200, else the answer as it is. */
export function revalidate({ headers: asked }: Request, answer: Answer): Answer {
  const { etag, 'content-type': _type, ...headers } = answer.headers ?? {};
  if (etag === undefined || (answer.status ?? 200) !== 200) return answer;
  if (!matchesEtag(asked.get('if-none-match'), etag)) return answer;
  return { status: 304, headers: { etag, ...headers }, body: null };
}

/** 0 where any ledger will do. Throws an HttpError 400. */
export function readMinLedgerIndex({ headers }: Request): number {
  const asked = headers.get(MIN_LEDGER_INDEX);
  return asked === null ? 0 : parseMilestoneIndex(asked, 'X-Min-Ledger-Index');
}

/** Throws an HttpError 404 where the ledger has not come so far. */
export function requireLedgerIndex(ledgerIndex: number, minLedgerIndex: number): void {
  if (ledgerIndex >= minLedgerIndex) return;
  throw new HttpError(
    404,
    `the ledger is at ${ledgerIndex}, before the milestone that was asked for`,
  );
}

/**
 * Whether If-None-Match names the tag, which must contain no comma, or is `*` (RFC 9110 §8.8.3,
 * §13.1.2).
 */
function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch
    .split(',')
    .map((candidate) => candidate.trim())
    .some((candidate) => candidate === '*' || stripWeakness(candidate) === stripWeakness(etag));
}

/** If-None-Match compares weakly: `W/"x"` is `"x"`. */
function stripWeakness(etag: string): string {
  return etag.replace(/^W\//, '');
}
