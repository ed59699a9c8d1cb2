/**
 * Answers that are JSON or, if the request wants it, the bytes of what they are about; and what
 * caches are told of those that never change (docs/contract.md#caching).
 */
import { type Answer, jsonAnswer } from './answer.ts';
import type { RouteContext } from './route.ts';

/**
 * An Accept that begins with it asks for raw bytes, as in HORNET; the answer has this type then.
 */
export const RAW = 'application/vnd.iota.serializer-v1';

const YEAR_SECONDS = 365 * 86_400;
const DAY_SECONDS = 86_400;

/** Of what an ID names: the ID fixes the content. */
export const IMMUTABLE = { 'cache-control': `public, max-age=${YEAR_SECONDS}, immutable` };

/**
 * Of what the index of an applied milestone names: it never changes, but another network that is
 * served under the same URL has other milestones. And of a ledger that is over.
 */
export const IMMUTABLE_FOR_A_DAY = { 'cache-control': `public, max-age=${DAY_SECONDS}, immutable` };

/** The bytes where the request asks for them, else the JSON. */
export function rawOrJson(
  { request }: Pick<RouteContext, 'request'>,
  bytes: Uint8Array,
  toJson: () => unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  // a cache must not give the one for the other
  const all = { ...headers, vary: 'accept' };
  if (request.headers.get('accept')?.startsWith(RAW)) {
    return { body: bytes, headers: { ...all, 'content-type': RAW } };
  }
  return jsonAnswer(toJson(), all);
}
