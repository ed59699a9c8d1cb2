/**
 * Patterns of PUBLIC_ROUTES and PROTECTED_ROUTES that match no route: typing errors, mostly, which
 * close every route or protect none.
 */
import { readFileSync } from 'node:fs';

/** The paths of all routes, `{…}` where they have a parameter. @param openApi file */
export function readRoutePaths(openApi: string): string[] {
  const { paths } = JSON.parse(readFileSync(openApi, 'utf8')) as { paths: object };
  return Object.keys(paths);
}

/**
 * Returns a sentence for each pattern that matches no route.
 *
 * @param vars the settings
 * @param paths of all routes
 */
export function findUnmatched(
  vars: Readonly<Record<string, string>>,
  paths: readonly string[],
): string[] {
  return ['PUBLIC_ROUTES', 'PROTECTED_ROUTES'].flatMap((name) => {
    const patterns = (vars[name] ?? '').split(',').map((pattern) => pattern.trim());
    return patterns
      .filter((pattern) => pattern !== '' && !paths.some((path) => mayMatch(pattern, path)))
      .map((pattern) => `${name}: ${pattern} matches no route (docs/contract.md)`);
  });
}

/** In the place of a parameter: one or more characters other than a slash. */
const PARAMETER = '\0';

/** Whether the pattern matches any path of the route. */
function mayMatch(pattern: string, path: string): boolean {
  const route = path.toLowerCase().replaceAll(/\{\w+\}/g, PARAMETER);
  /** How much of the route what was read of the pattern may have matched. */
  let lengths = new Set([0]);
  for (const character of pattern.toLowerCase()) {
    const next = new Set<number>();
    for (const length of lengths) {
      if (character === '*') for (let i = length; i <= route.length; i++) next.add(i);
      else if (route[length] === character) next.add(length + 1);
      else if (route[length] === PARAMETER && character !== '/') next.add(length).add(length + 1);
    }
    lengths = next;
  }
  return lengths.has(route.length);
}
