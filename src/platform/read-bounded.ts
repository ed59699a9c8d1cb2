/** Reads a body as a stream, up to a limit that holds whatever Content-Length says. */

/** Bytes of the first buffer where it is not known how many will come. */
const FIRST_BYTES = 1023;

/**
 * Returns all bytes of a body; undefined if there are more than `maxBytes`, the rest unread.
 * Rejects if the stream breaks off. If possible, as with bodies from a network, it is read into a
 * buffer of its own: else each read makes a new one of 4 KB, most of the garbage of fetching.
 *
 * @param expected bytes that are likely to come
 */
export async function readBounded(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  expected = FIRST_BYTES,
): Promise<Uint8Array | undefined> {
  const reader = openByteReader(body);
  if (reader === undefined) return joinChunks(body, maxBytes);
  // room for one byte more shows that there is one
  let bytes = new Uint8Array(Math.min(expected, maxBytes) + 1);
  for (let length = 0; ; ) {
    const { done, value } = await reader.read(bytes.subarray(length));
    if (value === undefined) throw new Error('a body was cancelled');
    // the buffer was handed over, and comes back with the value
    bytes = new Uint8Array(value.buffer);
    if (done) return bytes.subarray(0, length);
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    if (length === bytes.length)
      bytes = new Uint8Array(bytes.buffer.transfer(Math.min(2 * length, maxBytes + 1)));
  }
}

/** Undefined where the body is not a stream of bytes, but of any values. */
function openByteReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: 'byob' });
  } catch (error) {
    if (error instanceof TypeError && !body.locked) return undefined;
    throw error;
  }
}

async function joinChunks(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // to leave the loop cancels the body
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}
