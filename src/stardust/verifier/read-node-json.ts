/** Reads JSON of an untrusted node: at most N bytes, within a time, whatever it sends. */
import { parseBoundedJson } from '../encoding/bounded-json.ts';

/** The part of a Response that is read. */
export interface FetchedAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(): Promise<unknown>;
    };
  } | null;
}

/** A GET. What another host answers is not the answer of this node. */
export interface FetchInit {
  /** `manual`. */
  redirect?: string | undefined;
  /** An AbortSignal. */
  signal?: unknown;
}

/** Sends requests. A method, so that the `fetch` of each platform fits, whatever else it takes. */
export interface Platform {
  fetch(url: string, init?: FetchInit): Promise<FetchedAnswer>;
}

/** A node, and how it is asked. */
export interface Asked {
  /** URL without a slash at its end. */
  url: string;
  platform: Platform;
  /** Ends the time that the node has for all its answers. */
  signal: AbortSignal;
}

/**
 * Returns what `ask` makes of a node's answers. Its signal aborts when the time is over, and at the
 * end: a body that nobody reads would keep its connection open.
 */
export async function withinTime<T>(
  timeoutSeconds: number,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const late = new Error(`no answer within ${timeoutSeconds} seconds`);
  const timer = setTimeout(() => controller.abort(late), 1000 * timeoutSeconds);
  try {
    return await ask(controller.signal);
  } finally {
    clearTimeout(timer);
    controller.abort(new Error('the answers were read'));
  }
}

/** A node's answer, or why there is none: a sentence without its full stop. */
export type NodeJson =
  | {
      status: number;
      json: unknown;
      /** Ledger index at which the node says that this is so; undefined if it does not say. */
      ledgerIndex: number | undefined;
    }
  | { failure: string };

/** The JSON of a path; undefined where the status is not 200. */
export async function readNodeJson(
  { url, platform, signal }: Asked,
  path: string,
  maxBytes: number,
): Promise<NodeJson> {
  // a fetch that was given may not obey the signal
  const over = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  const read = async (): Promise<NodeJson> => {
    // browsers refuse to call theirs as a method of anything but the window
    const { fetch } = platform;
    const { status, headers, body } = await fetch(url + path, { redirect: 'manual', signal });
    const index = headers.get('x-ledger-index') ?? '';
    const ledgerIndex = /^\d+$/.test(index) ? Number(index) : undefined;
    if (status !== 200) return { status, json: undefined, ledgerIndex };
    const bytes = await readUpTo(body, maxBytes);
    if (bytes === undefined) return { failure: `an answer of more than ${maxBytes / 1024} KB` };
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { status, json: parseBoundedJson(text), ledgerIndex };
  };
  try {
    return await Promise.race([read(), over]);
  } catch (error) {
    if (error instanceof SyntaxError) return { failure: 'an answer that is no JSON' };
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

/** Undefined where there are more. */
async function readUpTo(
  body: FetchedAnswer['body'],
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(maxBytes);
  if (body === null) return bytes.subarray(0, 0);
  const reader = body.getReader();
  for (let length = 0; ; ) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return bytes.subarray(0, length);
    if (length + value.length > maxBytes) {
      // the node may let it wait
      reader.cancel().catch(() => undefined);
      return undefined;
    }
    bytes.set(value, length);
    length += value.length;
  }
}
