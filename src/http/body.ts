/**
 * Request bodies (docs/contract.md#white-flag, step 1): read as a stream up to a limit, whatever
 * Content-Length says, and parsed as a JSON object.
 */
import { readBounded } from '../platform/read-bounded.ts';
import { HttpError } from './errors.ts';

/** A white-flag request needs less than 1 KB. */
const MAX_BODY_BYTES = 64 * 1024;

/** Called by JSON.parse for each value; `source` is the text of a number. */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/**
 * Makes a number NaN that Go's decoder refuses for an unsigned integer: `17340.0`, `1.734e4`, `-0`.
 * A schema of integers then refuses it too.
 */
export const asGoReadsIntegers: Reviver = (_, value, context) =>
  typeof value === 'number' && !/^\d+$/.test(context?.source ?? '') ? Number.NaN : value;

/** @param maxBytes the longest body that is read */
export async function readJsonObject(
  request: Request,
  { maxBytes = MAX_BODY_BYTES, reviver }: { maxBytes?: number; reviver?: Reviver } = {},
): Promise<Record<string, unknown>> {
  const bytes = await readBodyBytes(request, maxBytes);
  let value: unknown;
  try {
    // a byte order mark stays in and fails to parse, as in the reference
    value = JSON.parse(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
      reviver,
    );
  } catch {
    throw new HttpError(400, 'the body is not JSON in UTF-8');
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
