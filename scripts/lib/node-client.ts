/**
 * A client of a node, by its URL.
 */
import { toBase64 } from '../../src/stardust/encoding/bytes.ts';

/** Requests a path; with a body it is a POST. */
export type NodeClient = (
  path: string,
  options?: { body?: string; accept?: string },
) => Promise<Response>;

/** @param text base URL; a user name and a password in it are sent by HTTP Basic */
export function openNodeClient(text: string): NodeClient {
  const url = new URL(text);
  const { username, password } = url;
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const credentials: Record<string, string> =
    username === '' ? {} : { authorization: `Basic ${toBase64(new TextEncoder().encode(user))}` };
  const base = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  return (path, { body, accept } = {}) =>
    fetch(base + path, {
      headers: { ...credentials, ...(accept !== undefined && { accept }) },
      ...(body !== undefined && { method: 'POST', body }),
    });
}

/** The answer, if it is 200. Throws an Error with a sentence otherwise. */
export async function mustAnswer(response: Response, path: string): Promise<Response> {
  if (response.status === 200) return response;
  await response.body?.cancel();
  const detail = response.headers.get('x-error-detail');
  throw new Error(`${path}: status ${response.status}${detail ? `, ${detail}` : ''}`);
}
