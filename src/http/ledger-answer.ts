/**
 * Answers that are true at the ledger index that they name, with tags by which a client asks
 * whether its copy is still that of the ledger (docs/contract.md#caching).
 */
import type { Answer } from './answer.ts';
import { HttpError, noLedger } from './errors.ts';
import { MIN_LEDGER_INDEX } from './freshness.ts';
import { parseMilestoneIndex } from './schemas.ts';

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
export async function hashedAnswer<T extends { ledgerIndex: number }>(
  request: Request,
  value: T,
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
    vary: [MIN_LEDGER_INDEX, ...vary].join(', '),
  };
  return revalidate(request, { headers, body: json });
}

/** Returns 304 if the request's If-None-Match names the tag of a 200, else the answer as it is. */
export function revalidate({ headers: asked }: Request, answer: Answer): Answer {
  const { etag, 'content-type': _type, ...headers } = answer.headers ?? {};
  if (etag === undefined || (answer.status ?? 200) !== 200) return answer;
  if (!matchesEtag(asked.get('if-none-match'), etag)) return answer;
  return { ...answer, status: 304, headers: { etag, ...headers }, body: null };
}

/** The ledger index that the request requires; 0 where any will do. Throws an HttpError 400. */
export function readMinLedgerIndex({ headers }: Request): number {
  const asked = headers.get(MIN_LEDGER_INDEX);
  return asked === null ? 0 : parseMilestoneIndex(asked, 'X-Min-Ledger-Index');
}

/**
 * The answer about what `read` found, at the required ledger index or later. Both the answer and an
 * HttpError of `answer` name the ledger index of what was found. Throws an HttpError where nothing
 * was found or the ledger has not come so far.
 *
 * @param minLedgerIndex what the request requires, or more
 * @param notFound what is thrown where nothing was found
 */
export async function atLedger<T extends { ledgerIndex: number }>(
  minLedgerIndex: number,
  read: (minLedgerIndex: number) => Promise<T | undefined>,
  answer: (found: T) => Answer | Promise<Answer>,
  notFound: () => HttpError = noLedger,
): Promise<Answer> {
  const found = await read(minLedgerIndex);
  if (found === undefined) throw notFound();
  const { ledgerIndex } = found;
  try {
    if (ledgerIndex < minLedgerIndex)
      throw new HttpError(
        404,
        `the ledger is at ${ledgerIndex}, before the milestone that was asked for`,
      );
    return { ledgerIndex, ...(await answer(found)) };
  } catch (error) {
    if (error instanceof HttpError) error.ledgerIndex = ledgerIndex;
    throw error;
  }
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
