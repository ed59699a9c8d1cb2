/**
 * Requests to the node that the page comes from.
 */
import * as v from 'valibot';
import { maxAnswerBytes } from '../../client/answer-bounds.ts';
import { parseBoundedJson } from '../../src/stardust/encoding/bounded-json.ts';

/**
 * There is no answer of the node, or an error of its own, or one that is not what its contract says.
 * The message says which of them.
 */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  /** HTTP status of the node's own error; 0 if there was no answer of it, or none that can be read. */
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

/** Whether the node does not have what it was asked for, as it says. */
export const isMissing = (error: unknown): boolean =>
  error instanceof NodeError && error.status === 404;

interface Question {
  body?: string;
  accept?: string;
  headers?: Readonly<Record<string, string>>;
}

/** For one answer, its body included. A node that computes a white flag needs some of it. */
const PATIENCE_MS = 30_000;

/**
 * One request: no copy of a cache, no other host, and no more bytes or time than an answer may have.
 * Throws a {@link NodeError} where there is no such answer.
 */
export async function askHere(
  path: string,
  { body, accept, headers }: Question = {},
): Promise<Response> {
  const what = path.split('?')[0];
  try {
    const response = await fetch(path, {
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers: { ...headers, ...(accept !== undefined && { accept }) },
      ...(body !== undefined && { method: 'POST', body }),
    });
    const bytes = await readUpTo(response, maxAnswerBytes(accept));
    if (bytes === undefined) throw new NodeError(0, `The node answers ${what} without end.`);
    return new Response(bytes.size === 0 ? null : bytes, {
      status: response.status,
      headers: response.headers,
    });
  } catch (error) {
    if (error instanceof NodeError) throw error;
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    throw new NodeError(0, isLate ? lateSentence(what) : silentSentence(what), error);
  }
}

const lateSentence = (what = '') =>
  `The node did not answer ${what} within ${PATIENCE_MS / 1000} seconds.`;

/** A browser that says it is online may be wrong, one that says it is offline is not. */
const silentSentence = (what = '') =>
  (navigator as { onLine?: boolean }).onLine === false
    ? 'Your browser is offline. Nobody was asked.'
    : `The node does not answer ${what}.`;

/** Undefined where there are more bytes; then the rest is not read. */
async function readUpTo({ body }: Response, maxBytes: number): Promise<Blob | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  // not every browser iterates over a stream
  const reader = body?.getReader();
  for (let length = 0; reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
  return new Blob(chunks);
}

/** The response if it is 200. Throws a {@link NodeError} with a sentence for people otherwise. */
async function ask(path: string, question: Question = {}): Promise<Response> {
  const response = await askHere(path, question);
  const { status } = response;
  if (status === 200) return response;
  if (!v.is(ownError, parseJson(await response.text())))
    throw new NodeError(
      0,
      `Something between your browser and the node answered ${status}, and not the node itself.`,
    );
  throw new NodeError(status, describeStatus(status, response.headers.get('x-error-detail')));
}

/** The body of each error of a node; a gateway before it has another one. */
const ownError = v.object({ error: v.object({ code: v.unknown(), message: v.string() }) });

export async function askJson<S extends v.GenericSchema>(
  path: string,
  schema: S,
  question?: Question,
): Promise<v.InferOutput<S>> {
  return (await askJsonAndHeaders(path, schema, question)).json;
}

export async function askJsonAndHeaders<S extends v.GenericSchema>(
  path: string,
  schema: S,
  question?: Question,
): Promise<{ json: v.InferOutput<S>; headers: Headers }> {
  const response = await ask(path, question);
  const result = v.safeParse(schema, parseJson(await response.text()), { abortEarly: true });
  if (result.success) return { json: result.output, headers: response.headers };
  const issue = result.issues[0];
  const place = v.getDotPath(issue) ?? 'the whole';
  throw new NodeError(0, `The node's answer is not what its contract says: ${place}.`);
}

/** The bytes of a block or a milestone. */
export async function askBytes(path: string): Promise<Uint8Array> {
  const response = await ask(path, { accept: 'application/vnd.iota.serializer-v1' });
  return new Uint8Array(await response.arrayBuffer());
}

function parseJson(text: string): unknown {
  try {
    return parseBoundedJson(text);
  } catch {
    // no JSON, or too deep: then it has no schema
    return undefined;
  }
}

/** The reason that `/health` gives; undefined if the node is healthy. */
export async function askHealth(): Promise<string | undefined> {
  const response = await askHere('/health');
  if (response.status === 200) return undefined;
  return response.headers.get('x-error-detail')?.slice(0, 200) ?? `status ${response.status}`;
}

function describeStatus(status: number, detail: string | null): string {
  const reason = detail === null ? '' : `: ${detail.slice(0, 200)}`;
  if (status === 429) return 'Too many requests. Wait a minute and try again.';
  if (status === 401) return 'This node wants a password or a token.';
  if (status === 403) return `This node does not answer this to the public${reason}.`;
  return `The node answered ${status}${reason}.`;
}
