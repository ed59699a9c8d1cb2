/**
 * Answers that are true at the ledger index that they name, with tags by which a client asks
 * whether its copy is still that of the ledger (docs/contract.md#caching).
 */
import type { Database } from '../ledger/core/database.ts';
import { NO_LEDGER } from '../ledger/core/head.ts';
import type { Answer } from './answer.ts';
import { HttpError } from './errors.ts';
import { MIN_LEDGER_INDEX } from './freshness.ts';
import { parseMilestoneIndex } from './request.ts';
import type { RouteContext } from './route.ts';

/** Hex digits of a body's hash that stand in the tag of a list. */
const TAG_DIGITS = 16;

/** 200 with what is true of a list at a ledger index, or 304 where the client has it. */
export async function hashedAnswer<T extends { ledgerIndex: number }>(
  request: Request,
  value: T,
): Promise<Answer> {
  const json = JSON.stringify(value);
  const tag = `${value.ledgerIndex}-${(await hashText(json)).slice(0, TAG_DIGITS)}`;
  const headers = { ...headersOf([]), etag: `W/"${tag}"` };
  return revalidate(request, { headers, body: json });
}

/**
 * Returns 200 with what is true of one object at a ledger index, or 304 if the client has its
 * state.
 *
 * @param state distinct for each state of the object, without quotes and commas. Whole: who owns an
 * object can make two states that agree in 16 digits
 * @param vary headers besides X-Min-Ledger-Index by which one URL has several bodies
 */
export function objectAnswer(
  request: Request,
  ledgerIndex: number,
  value: unknown,
  state: string,
  vary: readonly string[] = [],
): Answer {
  const body = JSON.stringify(value);
  return revalidate(request, { ledgerIndex, state, headers: headersOf(vary), body });
}

/** Answers like objectAnswer, tagged by a hash of the value without `ledgerIndex`. */
export async function hashedObjectAnswer(
  request: Request,
  ledgerIndex: number,
  value: unknown,
  vary: readonly string[] = [],
): Promise<Answer> {
  const leaveOut = (name: string, each: unknown) => (name === 'ledgerIndex' ? undefined : each);
  const state = await hashText(JSON.stringify(value, leaveOut));
  return objectAnswer(request, ledgerIndex, value, state, vary);
}

/** The hex digits of a text's SHA-256. */
export async function hashText(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}

function headersOf(vary: readonly string[]): Record<string, string> {
  return { 'content-type': 'application/json', vary: [MIN_LEDGER_INDEX, ...vary].join(', ') };
}

/** Returns 304 if the request's If-None-Match names the tag of a 200, else the answer as it is. */
export function revalidate(request: Request, answer: Answer): Answer {
  const etag = etagOf(request, answer);
  if (etag === undefined || (answer.status ?? 200) !== 200) return answer;
  const { 'content-type': type, ...others } = answer.headers ?? {};
  const headers = { ...others, etag };
  if (matchesEtag(request.headers.get('if-none-match'), etag))
    return { ...answer, status: 304, headers, body: null };
  return {
    ...answer,
    headers: { ...(type !== undefined && { 'content-type': type }), ...headers },
  };
}

/**
 * A cache that revalidates its copy keeps the old body with its ledger index: so where a cache may
 * keep an answer, its tag has the ledger index. No cache keeps the answer to a client that requires
 * a ledger index, which reads X-Ledger-Index of the 304: it gets the state's tag.
 */
function etagOf({ headers }: Request, answer: Answer): string | undefined {
  const { state, ledgerIndex } = answer;
  if (state === undefined) return answer.headers?.etag;
  return headers.has(MIN_LEDGER_INDEX) ? `W/"${state}"` : `W/"${ledgerIndex}-${state}"`;
}

/** The ledger index that the request requires; 0 where any will do. Throws an HttpError 400. */
export function readMinLedgerIndex({ headers }: Request): number {
  const asked = headers.get(MIN_LEDGER_INDEX);
  return asked === null ? 0 : parseMilestoneIndex(asked, 'X-Min-Ledger-Index');
}

/** Answers like {@link atLedgerIndex}, by the request's own index; `read` gets a session of D1. */
export function atLedger<T extends { ledgerIndex: number }>(
  { request, node }: Pick<RouteContext, 'request' | 'node'>,
  read: (db: Database) => Promise<T | undefined>,
  answer: (found: T) => Answer | Promise<Answer>,
  notFound?: () => HttpError,
): Promise<Answer> {
  const readAt = (minLedgerIndex: number) => read(node.session(minLedgerIndex));
  return atLedgerIndex(readMinLedgerIndex(request), readAt, answer, notFound);
}

/**
 * Returns the answer about what `read` found, at the required ledger index or later. Both the
 * answer and an HttpError of `answer` name the ledger index. Throws an HttpError if nothing is
 * there.
 *
 * @param minLedgerIndex the index that the request requires, or more
 * @param notFound error if nothing was found
 */
export async function atLedgerIndex<T extends { ledgerIndex: number }>(
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

/** Whether If-None-Match names the tag, without a comma, or is `*` (RFC 9110 §8.8.3, §13.1.2). */
function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch
    .split(',')
    .map((candidate) => candidate.trim())
    .some((candidate) => candidate === '*' || stripWeakness(candidate) === stripWeakness(etag));
}

/** If-None-Match compares weakly: `W/"x"` is `"x"`. */
const stripWeakness = (etag: string): string => etag.replace(/^W\//, '');

/** The error of a node without a ledger: it cannot say "not found" at any index. */
export const noLedger = (): HttpError => new HttpError(500, NO_LEDGER);
