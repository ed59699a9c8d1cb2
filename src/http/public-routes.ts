/**
 * PUBLIC_ROUTES (docs/contract.md#order-of-decisions): which paths may be asked for.
 */
import { matchesAny } from './path-patterns.ts';

/** Whether the path is public; no patterns: every path is. */
export function isPublic(path: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || matchesAny(path, patterns);
}

/** The same of a route that no `*` and no default opens. */
export function isNamed(path: string, patterns: readonly string[]): boolean {
  return patterns.includes(path);
}
