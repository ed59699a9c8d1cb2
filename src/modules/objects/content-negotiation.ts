/**
 * Answers that are JSON or, if the request wants it, the bytes of what they are about.
 */
import { type Answer, jsonAnswer } from '../../http/answer.ts';
import type { RouteContext } from '../../http/route.ts';

/**
 * An Accept that begins with it asks for raw bytes, as in HORNET; the answer has this type then.
 */
export const RAW = 'application/vnd.iota.serializer-v1';

/** The bytes where the request asks for them, else the JSON. */
export function rawOrJson(
  { request }: Pick<RouteContext, 'request'>,
  bytes: Uint8Array,
  toJson: () => unknown,
  others: Pick<Answer, 'keep' | 'ledgerIndex'>,
): Answer {
  // a cache must not give the one for the other
  const headers = { vary: 'accept' };
  if (request.headers.get('accept')?.startsWith(RAW)) {
    return { ...others, body: bytes, headers: { ...headers, 'content-type': RAW } };
  }
  return jsonAnswer(toJson(), { ...others, headers });
}
