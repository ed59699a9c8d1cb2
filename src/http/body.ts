/**
 * Request bodies (docs/contract.md#white-flag, step 1): read as a stream up to a limit, whatever
 * Content-Length says, and parsed as a JSON object.
 */
import { HttpError } from './errors.ts';

/** A white-flag request needs less than 1 KB. */
const MAX_BODY_LENGTH = 64 * 1024;

export async function readJsonObject(request: Request): Promise<object> {
  const bytes = await readBody(request);
  let value: unknown;
  try {
    // a byte order mark stays in and fails to parse, as in the reference
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new HttpError(400, 'the body is not JSON in UTF-8');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpError(400, 'the body is not a JSON object');
  }
  return value;
}

async function readBody(request: Request): Promise<Uint8Array> {
  if (request.body === null) throw new HttpError(400, 'the request has no body');
  const reader = request.body.getReader();
  const bytes = new Uint8Array(MAX_BODY_LENGTH);
  let length = 0;
  for (;;) {
    const { done, value } = await readChunk(reader);
    if (done) return bytes.subarray(0, length);
    if (length + value.length > MAX_BODY_LENGTH) {
      await reader.cancel();
      throw new HttpError(400, `the body is longer than ${MAX_BODY_LENGTH} bytes`);
    }
    bytes.set(value, length);
    length += value.length;
  }
}

async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch {
    // the client went away or broke its own transfer: not a fault of this node
    throw new HttpError(400, 'the body broke off');
  }
}
