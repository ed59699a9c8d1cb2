/**
 * Reads requests (docs/contract.md): parameters of paths (TIP-25, TIP-26), by the schemas that
 * describe them in openapi.json; the query, as Go and so the reference does; the body, as a stream
 * up to a limit, whatever Content-Length says.
 */
import * as v from 'valibot';
import { digitsOf, hex, MAX_UINT32 } from '../platform/json-schemas.ts';
import { readBounded } from '../platform/read-bounded.ts';
import { parseBoundedJson } from '../stardust/encoding/bounded-json.ts';
import { HttpError } from './errors.ts';

/** 32 bytes: blocks, milestones, NFTs, aliases. */
export const Id = hex(64);
export const OutputId = hex(68);
/** 38 bytes: alias address, serial number, type of the token scheme (B.7). */
export const FoundryId = hex(76);
/** Index in a path or a header: digits and nothing else. */
export const MilestoneIndex = v.pipe(
  v.string(),
  v.regex(/^\d{1,10}$/),
  v.transform(Number),
  v.maxValue(MAX_UINT32),
);

export function parseId(
  schema: v.GenericSchema<string>,
  id: string | undefined,
  name: string,
): string {
  if (!v.is(schema, id)) {
    const isSlashed = v.is(schema, String(id).replace(/\/$/, ''));
    const fault = isSlashed ? 'ends with a slash' : 'is not 0x and hex digits of the right number';
    throw new HttpError(400, `${name} ${fault}`);
  }
  return digitsOf(id);
}

export function parseMilestoneIndex(text: string | undefined, name: string): number {
  const result = v.safeParse(MilestoneIndex, text);
  if (!result.success)
    throw new HttpError(400, `${name} is not an integer from 0 to ${MAX_UINT32}`);
  return result.output;
}

/** Values by name; each character is a byte. */
export type QueryString = ReadonlyMap<string, string>;

/**
 * Reads the query of a URL as Go does (net/url.ParseQuery): a pair with a semicolon or a wrong
 * percent sign is ignored, and of two pairs with one name the first counts.
 *
 * @param search with or without the question mark in front, as it is in the URL
 */
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
    if (pair === '') continue;
    const [name] = parseQueryString(pair).keys();
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
  // most have neither: the rest takes ten times as long
  if (!/[%+]/.test(text)) return text;
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  return text
    .replaceAll('+', ' ')
    .replace(/%(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** A white-flag request needs less than 1 KB; the largest has 1,000 values. */
const MAX_BODY_BYTES = 64 * 1024;
const MAX_BODY_VALUES = 2000;

/**
 * Makes a number NaN that Go's decoder refuses for an unsigned integer: `17340.0`, `1.734e4`, `-0`.
 * A schema of integers then refuses it too. `source` is the text of a number.
 */
const asGoReadsIntegers = (_: string, value: unknown, context?: { source?: string }) =>
  typeof value === 'number' && !/^\d+$/.test(context?.source ?? '') ? Number.NaN : value;

/** Reads a body up to these limits: each value takes 0.6 µs, as a reviver is slow. */
export async function readJsonObject(
  request: Request,
  { maxBytes, maxValues } = { maxBytes: MAX_BODY_BYTES, maxValues: MAX_BODY_VALUES },
): Promise<Record<string, unknown>> {
  const bytes = await readBodyBytes(request, maxBytes);
  let value: unknown;
  try {
    // a byte order mark stays in and fails to parse, as in the reference
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    parseBoundedJson(text, maxValues);
    value = JSON.parse(text, asGoReadsIntegers);
  } catch {
    throw new HttpError(400, `the body is not JSON in UTF-8 of up to ${maxValues} values`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HttpError(400, 'the body is not a JSON object');
  return value as Record<string, unknown>;
}

async function readBodyBytes({ body }: Request, maxBytes: number): Promise<Uint8Array> {
  if (body === null) throw new HttpError(400, 'the request has no body');
  const bytes = await readBounded(body, maxBytes).catch(() => {
    // the client went away or broke its own transfer: not a fault of this node
    throw new HttpError(400, 'the body broke off');
  });
  if (bytes === undefined) throw new HttpError(400, `the body is longer than ${maxBytes} bytes`);
  return bytes;
}
