/**
 * Patterns of paths in PUBLIC_ROUTES and PROTECTED_ROUTES (docs/contract.md#order-of-decisions):
 * `*` stands for any characters. No regular expressions: many `*` must not be expensive.
 */

/** Whether the path is public; no patterns: every path is. */
export function isPublic(path: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || matchesAny(path, patterns);
}

/** Whether PUBLIC_ROUTES lists this path literally. */
export function isNamed(path: string, patterns: readonly string[]): boolean {
  return patterns.includes(path);
}

/** Whether a pattern matches the path. Case does not matter, as hex in paths comes in any. */
export function matchesAny(path: string, patterns: readonly string[]): boolean {
  const lower = path.toLowerCase();
  return patterns.some((pattern) => matchesPattern(lower, pattern.toLowerCase()));
}

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
