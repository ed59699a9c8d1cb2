/**
 * Entity tags (RFC 9110 §8.8.3, §13.1.2), weak ones.
 */

/** Whether If-None-Match names the tag, which must hold no comma, or is `*`. */
export function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
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
