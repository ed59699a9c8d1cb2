/** Answers that are JSON or, if the request wants it, bytes. */
import { type Answer, jsonAnswer } from '../../http/answer.ts';
import type { RouteContext } from '../../http/route.ts';

/** Beginning of an Accept that requests raw bytes, as in HORNET; the type of the answer. */
export const RAW = 'application/vnd.iota.serializer-v1';

export function rawOrJson(
  { request }: Pick<RouteContext, 'request'>,
  bytes: Uint8Array,
  toJson: () => unknown,
  others: Pick<Answer, 'keep' | 'ledgerIndex'>,
): Answer {
  // a cache must not give the one for the other
  const headers = { vary: 'accept' };
  if (request.headers.get('accept')?.startsWith(RAW))
    return { ...others, body: bytes, headers: { ...headers, 'content-type': RAW } };
  return jsonAnswer(toJson(), { ...others, headers });
}
