/**
 * Access to paths (docs/contract.md#who-may-ask). PUBLIC_ROUTES has patterns of paths, in which `*`
 * stands for any characters; PROTECTED_ROUTES has those that ask for a password or a token, by HTTP
 * Basic (RFC 7617) and Bearer (RFC 6750). The check reads only the request's header, in constant
 * time: a guess costs no row of any database, and learns nothing.
 */
import type { Settings } from '../../settings.ts';
import { blake2b256 } from '../../stardust/crypto/hash.ts';
import { HttpError } from '../errors.ts';

/** Whether the path is public; no patterns: every path is. */
export function isPublic(path: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || matchesAny(path, patterns);
}

/** Whether PUBLIC_ROUTES lists this path literally. */
export const isNamed = (path: string, patterns: readonly string[]): boolean =>
  patterns.includes(path);

/** Whether a pattern matches the path. Case does not matter, as hex in paths comes in any. */
export function matchesAny(path: string, patterns: readonly string[]): boolean {
  const lower = path.toLowerCase();
  return patterns.some((pattern) => matchesPattern(lower, pattern.toLowerCase()));
}

/** Not by a regular expression: many `*` must not be expensive. */
function matchesPattern(path: string, pattern: string): boolean {
  const [start = '', ...pieces] = pattern.split('*');
  const end = pieces.pop();
  if (end === undefined) return path === start;
  if (!path.startsWith(start)) return false;
  // the leftmost place of each piece leaves the most room for the next
  let from = start.length;
  for (const piece of pieces) {
    const at = path.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return path.length - end.length >= from && path.endsWith(end);
}

const REALM = 'realm="stardust-edge-node"';

/** A scheme, spaces, and what RFC 9110 calls token68: all that Basic and Bearer have. */
const AUTHORIZATION = /^(?<scheme>[A-Za-z]+) +(?<credentials>[A-Za-z0-9._~+/=-]+) *$/;

export function createRouteGuard({
  protectedRoutes,
  apiUser,
  apiToken,
}: Pick<Settings, 'protectedRoutes' | 'apiUser' | 'apiToken'>) {
  const accepted: Uint8Array[] = [];
  const challenges: string[] = [];
  if (apiUser !== undefined) {
    const credentials = encodeUtf8(`${apiUser.name}:${apiUser.password}`).toBase64();
    accepted.push(digest(`basic ${credentials}`));
    challenges.push(`Basic ${REALM}, charset="UTF-8"`);
  }
  if (apiToken !== undefined) {
    accepted.push(digest(`bearer ${apiToken}`));
    challenges.push(`Bearer ${REALM}`);
  }
  return {
    isProtected: (path: string) => matchesAny(path, protectedRoutes),
    /** Throws a 401 unless the request has a password or token that the settings name. */
    authorize(headers: Pick<Headers, 'get'>) {
      const given = digest(readCredentials(headers.get('authorization')));
      // every comparison is made, whichever of them succeeds
      const matches = accepted.map((each) => equalDigests(each, given));
      if (!matches.includes(true))
        throw new HttpError(401, undefined, { 'www-authenticate': challenges.join(', ') });
    },
  };
}

/** The scheme in lower case and the credentials; empty where there is no such thing. */
function readCredentials(authorization: string | null): string {
  const { scheme, credentials } = AUTHORIZATION.exec(authorization ?? '')?.groups ?? {};
  return scheme === undefined ? '' : `${scheme.toLowerCase()} ${credentials}`;
}

/** Digests have one length, so that to compare them takes one time. */
const digest = (text: string): Uint8Array => blake2b256(encodeUtf8(text));

const encodeUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function equalDigests(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0;
  for (const [i, byte] of a.entries()) difference |= byte ^ b[i]!;
  return difference === 0;
}
