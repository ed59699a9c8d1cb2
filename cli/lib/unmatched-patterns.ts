/**
 * Typing errors in settings: patterns of PUBLIC_ROUTES and PROTECTED_ROUTES that match no route, which
 * close every route or protect none; and names that are nearly those of settings.
 */
import { readFileSync } from 'node:fs';
import { distance } from 'fastest-levenshtein';
import { VAR_NAMES } from '../../src/settings.ts';

/** Settings in which a typing error opens routes. */
export const ACCESS_SETTINGS = ['PUBLIC_ROUTES', 'PROTECTED_ROUTES'];

/** The paths of all routes, `{…}` where they have a parameter. @param openApi file */
export function readRoutePaths(openApi: string): string[] {
  const { paths } = JSON.parse(readFileSync(openApi, 'utf8')) as { paths: object };
  return Object.keys(paths);
}

/** Views of the explorer (src/modules/page/module.ts), which are no routes and can be protected. */
export const VIEWS = [
  ...['search', 'verify', 'statement', 'milestones', 'nfts', 'tokens', 'proposal', 'reference'],
  ...['nft', 'alias', 'foundry', 'output', 'block', 'transaction', 'milestone', 'address'].map(
    (kind) => `${kind}/{id}`,
  ),
  ...['nfts/{id}', 'issuer/{id}', 'statement/{id}', 'reference/{id}'],
].map((view) => `/${view}`);

/**
 * Returns a sentence for each pattern that matches no route.
 *
 * @param vars the settings
 * @param paths of all routes
 * @param names of the settings that are looked at
 */
export function findUnmatched(
  vars: Readonly<Record<string, string>>,
  paths: readonly string[],
  names: readonly string[] = ACCESS_SETTINGS,
): string[] {
  return names.flatMap((name) => {
    const patterns = (vars[name] ?? '').split(',').map((pattern) => pattern.trim());
    return patterns
      .filter((pattern) => pattern !== '')
      .filter((pattern) => ![...paths, ...VIEWS].some((path) => mayMatch(pattern, path)))
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

/** The most typing errors in a name that is taken for a misspelt one. */
const MAX_TYPOS = 2;

/** Returns a sentence for each name that is nearly that of one of the settings. */
export function findMisspelt(
  names: ReadonlySet<string>,
  settings: readonly string[] = VAR_NAMES,
): string[] {
  return [...names].flatMap((name) => {
    if (VAR_NAMES.includes(name)) return [];
    const meant = settings.find((known) => distance(name.toUpperCase(), known) <= MAX_TYPOS);
    return meant === undefined ? [] : [`${name} is not a setting: is ${meant} meant?`];
  });
}
