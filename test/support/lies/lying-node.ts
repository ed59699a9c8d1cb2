/**
 * A node that lies: a server in front of an honest node that changes answers by rules. Without rules
 * it tells the truth.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { listen } from '../edge/launch.ts';

export interface Asked {
  method: string;
  /** Of the lying node. */
  host: string;
  /** With its query. */
  path: string;
  /** Whether the client wants the bytes of a block or a milestone, not JSON. */
  wantsBytes: boolean;
  body: string | undefined;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** An answer, or one whose body may never end. */
export type Told = Omit<Answer, 'body'> & { body: Uint8Array | AsyncIterable<Uint8Array> };

/** Whatever answers. */
export type Source = (asked: Asked) => Promise<Answer>;

/** What happens to some of the answers. */
export interface Rule {
  concerns(asked: Asked): boolean;
  /** Whether there is no answer. */
  hangs?: boolean;
  /** @param next answers by the other rules, and in the end by the honest node */
  tell(asked: Asked, next: Source): Promise<Told>;
}

/** Answers a WebSocket. */
export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface LyingNode extends AsyncDisposable {
  url: string;
  /** Without a socket the node has no events. */
  lie(rules: readonly Rule[], upgrade?: Upgrade): void;
  /** What was told since. */
  told(): {
    /** Rules that were applied. */
    used: ReadonlySet<Rule>;
    /** What failed in rules. */
    errors: readonly unknown[];
    /** Requests that are being answered; those that never are do not count. */
    busy: number;
    /** Of the answer without an end of which most was taken. */
    endlessBytes: number;
  };
}

/** Of an answer without an end, what is sent before a reader has had enough. */
export const MAX_ENDLESS_BYTES = 40 * 2 ** 20;

const RAW = 'application/vnd.iota.serializer-v1';

/** Headers that do not depend on how the bytes are sent. */
const HANDED_ON = /^(content-type|content-security-policy|x-.+)$/;

/** The node at a URL; each answer is read once, unless the node moves. */
export function nodeAt(url: string, moves = false): Source {
  const known = new Map<string, Promise<Answer>>();
  return (asked) => {
    if (moves) return readAnswer(fetch(url + asked.path, toRequest(asked)));
    const { method, path, wantsBytes, body } = asked;
    const key = JSON.stringify([method, path, wantsBytes, body]);
    const answer = known.get(key) ?? readAnswer(fetch(url + path, toRequest(asked)));
    known.set(key, answer);
    return answer;
  };
}

export function toRequest({ method, wantsBytes, body }: Asked): RequestInit {
  return {
    method,
    headers: wantsBytes ? { accept: RAW } : {},
    ...(body !== undefined && { body }),
  };
}

export async function readAnswer(responding: Promise<Response>): Promise<Answer> {
  const response = await responding;
  const headers = Array.from(response.headers).filter(([name]) => HANDED_ON.test(name));
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    body: await response.bytes(),
  };
}

/** Answers by rules, the first one outermost; `applied` learns of each that is used. */
function applyRules(
  honest: Source,
  rules: readonly Rule[],
  applied: (rule: Rule) => void = () => {},
): (asked: Asked) => Promise<Told> {
  return rules.reduceRight<(asked: Asked) => Promise<Told>>(
    (next, rule) => (asked) => {
      if (!rule.concerns(asked)) return next(asked);
      applied(rule);
      return rule.tell(asked, async (other) => {
        const { body, ...rest } = await next(other);
        if (!(body instanceof Uint8Array)) throw new TypeError('this answer has no end');
        return { ...rest, body };
      });
    },
    honest,
  );
}

export async function startLyingNode(honest: Source): Promise<LyingNode> {
  let rules: readonly Rule[] = [];
  let upgrade: Upgrade | undefined;
  let used = new Set<Rule>();
  let errors: unknown[] = [];
  let endlessBytes = 0;
  let busy = 0;

  function count(bytes: number): void {
    endlessBytes = Math.max(endlessBytes, bytes);
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked: Asked = {
      method: request.method!,
      host: request.headers.host!,
      path: request.url!,
      wantsBytes: request.headers.accept === RAW,
      body: chunks.length === 0 ? undefined : Buffer.concat(chunks).toString(),
    };
    const now = used;
    if (!rules.some((rule) => rule.hangs && rule.concerns(asked))) {
      busy++;
      response.once('close', () => void busy--);
    }
    const { status, headers, body } = await applyRules(honest, rules, (rule) => now.add(rule))(
      asked,
    );
    const isRoutes = asked.path === '/api/routes' && upgrade === undefined;
    // the next lie is told by other connections than the ones that are cut
    response.shouldKeepAlive = false;
    response.writeHead(status, headers);
    if (body instanceof Uint8Array) response.end(isRoutes ? withoutEvents(body) : body);
    else await sendAll(body, response, count);
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      if (!response.destroyed) errors.push(error);
      response.destroy();
    });
  });
  server.on('upgrade', (request, socket, head) => upgrade?.(request, socket, head));
  return {
    url: await listen(server),
    lie(newRules, newUpgrade) {
      [rules, upgrade] = [newRules, newUpgrade];
      [used, errors, endlessBytes] = [new Set(), [], 0];
    },
    told: () => ({ used, errors, busy, endlessBytes }),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Sends as much as the client takes. */
async function sendAll(
  body: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  onSent: (bytesOfIt: number) => void,
): Promise<void> {
  let sent = 0;
  for await (const chunk of body) {
    if (response.destroyed) return;
    sent += chunk.length;
    onSent(sent);
    if (!response.write(chunk)) await untilTaken(response);
  }
  response.end();
}

/** Until there is room for more, or nobody reads any more. */
function untilTaken(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** What /api/routes says of a node without events. */
function withoutEvents(body: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(body).toString().replace(',"mqtt/v1"', ''));
}
