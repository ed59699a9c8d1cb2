/**
 * A client of a node, by its URL. Every error names the URL and the cause.
 */
import * as v from 'valibot';
import { readBounded } from '../src/platform/read-bounded.ts';
import { parseBoundedJson } from '../src/stardust/encoding/bounded-json.ts';
import type { Finding, Proved } from '../src/stardust/provenance/provenance.ts';
import { maxAnswerBytes } from './answer-bounds.ts';
import { printable } from './printable.ts';

/** Requests a path; with a body it is a POST. */
export type NodeClient = (
  path: string,
  options?: { body?: string; accept?: string },
) => Promise<Response>;

/** What the node says is not so. The message is a sentence without its full stop. */
export class NotVerified extends Error {
  override readonly name = 'NotVerified';
}

/** Throws a {@link NotVerified} for what is refuted, and an Error for what is not checked. */
export function requireProved<T>(finding: Finding<T>): Proved<T> {
  if (finding.standing === 'proved') return finding.proof;
  throw new (finding.standing === 'refuted' ? NotVerified : Error)(finding.reason);
}

/** For one answer, its body included. A node that computes a white flag needs some of it. */
const TIMEOUT_MS = 30_000;

/** The URL of a node without user name and password, and the header of HTTP Basic that has them. */
export function splitCredentials(text: string): { base: string; headers: Record<string, string> } {
  const { username, password, origin, pathname } = new URL(text);
  const user = `${decode(username)}:${decode(password)}`;
  const base = `${origin}${pathname}`.replace(/([^/])\/+$/, '$1');
  if (username === '' && password === '') return { base, headers: {} };
  return {
    base,
    headers: { authorization: `Basic ${new TextEncoder().encode(user).toBase64()}` },
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // a stray percent sign
    return part;
  }
}

/** @param text base URL; a user name and a password in it are sent by HTTP Basic */
export function openNodeClient(text: string, timeout = TIMEOUT_MS): NodeClient {
  const { base, headers: credentials } = splitCredentials(text);
  return async (path, { body, accept } = {}) => {
    try {
      const response = await fetch(base + path, {
        headers: { ...credentials, ...(accept !== undefined && { accept }) },
        ...(body !== undefined && { method: 'POST', body }),
        // what another host answers is not the answer of this node
        redirect: 'manual',
        signal: AbortSignal.timeout(timeout),
      });
      // a body that is cut off fails here, where the URL is known
      return await readWhole(response, maxAnswerBytes(accept));
    } catch (error) {
      throw new Error(`${base}${path} does not answer: ${causeOf(error)}`, { cause: error });
    }
  };
}

/** The same response, its body read. Throws an Error where it is longer than an answer may be. */
async function readWhole(response: Response, maxBytes: number): Promise<Response> {
  const { body, status, headers, url } = response;
  if (body === null) return response;
  const bytes = await readBounded(body, maxBytes);
  if (bytes === undefined) throw new Error(`the answer has more than ${maxBytes / 1024} KiB`);
  // a Response of bytes would copy them
  const again = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  const whole = new Response(again, { status, headers });
  return Object.defineProperty(whole, 'url', { value: url });
}

/**
 * What is behind an error of fetch, whose own message is `fetch failed`. It has Node's code, such
 * as ECONNREFUSED.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return causeOf(error.cause);
  // one for each address of the host
  if (error instanceof AggregateError) return error.errors.map(causeOf).join(', ');
  const { code } = error as { code?: unknown };
  // OpenSSL's message is a line of its source code
  if (String(code).startsWith('ERR_SSL_')) return String(code);
  return typeof code !== 'string' || error.message.includes(code)
    ? error.message
    : `${code}: ${error.message}`;
}

/** The answer, if it is 200. Throws an Error with a sentence otherwise. */
export async function mustAnswer(response: Response, path: string): Promise<Response> {
  if (response.status === 200) return response;
  const place = response.headers.get('location');
  if (response.status >= 300 && response.status < 400 && place !== null)
    throw new Error(
      `${response.url || path} leads elsewhere, to ${printable(place)}: give that URL`,
    );
  await response.body?.cancel();
  const detail = response.headers.get('x-error-detail');
  const reason = detail ? `, ${printable(detail)}` : '';
  throw new Error(`${response.url || path}: status ${response.status}${reason}`);
}

/** The JSON that a path answers with 200. Throws an Error as {@link readJson} does. */
export async function requestJson<S extends v.GenericSchema>(
  node: NodeClient,
  path: string,
  schema: S,
  body?: string,
): Promise<v.InferOutput<S>> {
  return readJson(await node(path, body === undefined ? {} : { body }), path, schema);
}

/** The JSON of a 200. Throws an Error with a sentence if there is none, or not of the schema. */
export async function readJson<S extends v.GenericSchema>(
  response: Response,
  path: string,
  schema: S,
): Promise<v.InferOutput<S>> {
  const where = response.url || path;
  let json: unknown;
  try {
    json = parseBoundedJson(await (await mustAnswer(response, path)).text());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Error(`${where} is not JSON: is this the URL of a node?`, { cause: error });
  }
  const result = v.safeParse(schema, json, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const place = v.getDotPath(issue) ?? 'the answer';
  throw new Error(`${where}: ${printable(place)}: ${printable(issue.message)}`);
}
