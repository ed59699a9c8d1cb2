/**
 * Requests to the node that the page comes from.
 */
import * as v from 'valibot';

/** The node answered with an error, or with something that is not what its contract says. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  /** HTTP status; 0 if there was no answer, or none that can be read. */
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

interface Question {
  body?: string;
  accept?: string;
}

/** The response if it is 200. Throws a {@link NodeError} with a sentence for people otherwise. */
async function ask(path: string, { body, accept }: Question = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      // a copy of a cache is not what the node says now
      cache: 'no-store',
      ...(accept !== undefined && { headers: { accept } }),
      ...(body !== undefined && { method: 'POST', body }),
    });
  } catch (error) {
    throw new NodeError(0, `The node does not answer ${path.split('?')[0]}.`, error);
  }
  if (response.status === 200) return response;
  await response.body?.cancel();
  const detail = response.headers.get('x-error-detail');
  throw new NodeError(response.status, describeStatus(response.status, detail));
}

/** The JSON of an answer. */
export async function askJson<S extends v.GenericSchema>(
  path: string,
  schema: S,
  body?: string,
): Promise<v.InferOutput<S>> {
  return (await askJsonAndHeaders(path, schema, body)).json;
}

/** The JSON of an answer, and its headers. */
export async function askJsonAndHeaders<S extends v.GenericSchema>(
  path: string,
  schema: S,
  body?: string,
): Promise<{ json: v.InferOutput<S>; headers: Headers }> {
  const response = await ask(path, body === undefined ? {} : { body });
  const result = v.safeParse(schema, await response.json().catch(() => undefined));
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

/** The reason that `/health` gives; undefined if the node is healthy. */
export async function askHealth(): Promise<string | undefined> {
  const response = await fetch('/health', { cache: 'no-store' });
  if (response.status === 200) return undefined;
  return response.headers.get('x-error-detail') ?? `status ${response.status}`;
}

function describeStatus(status: number, detail: string | null): string {
  const reason = detail === null ? '' : `: ${detail}`;
  if (status === 429) return 'Too many requests. Wait a minute and try again.';
  if (status === 401) return 'This node wants a password or a token.';
  if (status === 403) return `This node does not answer this to the public${reason}.`;
  return `The node answered ${status}${reason}.`;
}
