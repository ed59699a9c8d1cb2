/**
 * The query of a URL as Go, and so the reference, reads it (net/url.ParseQuery): a pair with a
 * semicolon or a wrong percent sign is ignored, and of two pairs with one name the first counts.
 */
import { HttpError } from './errors.ts';

/** Values by name; each character is a byte. */
export type QueryString = ReadonlyMap<string, string>;

/** @param search with or without the question mark in front, as it is in the URL */
export function parseQueryString(search: string): QueryString {
  const values = new Map<string, string>();
  for (const pair of search.replace(/^\?/, '').split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const name = percentDecode(equals < 0 ? pair : pair.slice(0, equals));
    const value = percentDecode(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined || values.has(name)) continue;
    values.set(name, value);
  }
  return values;
}

/**
 * Throws an HttpError 400 unless each pair has one of the names, once, and is spelled as it should
 * be: nothing of the query would be ignored.
 */
export function requireQuery(search: string, names: readonly string[]): void {
  const seen = new Set<string>();
  for (const pair of search.replace(/^\?/, '').split('&')) {
    const [name] = parseQueryString(pair).keys();
    if (pair === '') continue;
    if (name === undefined) throw new HttpError(400, 'a pair of the query is malformed');
    if (!names.includes(name)) {
      const known = names.length === 0 ? 'none is known' : `known are ${names.join(', ')}`;
      throw new HttpError(400, `the query has an unknown name: ${known}`);
    }
    if (seen.has(name)) throw new HttpError(400, `${name} is given twice`);
    seen.add(name);
  }
}

/** Undefined where a percent sign is not followed by two hex digits. */
function percentDecode(text: string): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  return text
    .replaceAll('+', ' ')
    .replace(/%(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
