/**
 * A proxy that hands on what a node answers, and may change the bytes of an answer: a node that
 * lies.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

export interface AlteringProxy extends AsyncDisposable {
  url: string;
  /**
   * What becomes of the answer to a path; the bytes may be changed in place. Undefined: the
   * connection is cut.
   */
  alter: (path: string, body: Uint8Array) => Uint8Array | undefined;
  /** JSON that is answered in place of the node's answer; undefined: the node answers. */
  answer: (path: string) => unknown;
  /** Headers that every answer has in addition. */
  headers: Record<string, string>;
  /** Takes WebSockets; undefined: the node has no events. */
  upgrade: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
}

/** Headers that do not depend on how the bytes are sent. */
const HANDED_ON = /^(content-type|content-security-policy|x-.+)$/;

/** What /api/routes says of a node without events. */
function withoutEvents(body: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(body).toString().replace(',"mqtt/v1"', ''));
}

/** @param target base URL of the node */
export async function startProxy(target: string): Promise<AlteringProxy> {
  const server = createServer(async (request, response) => {
    const { url: path = '', method = 'GET', headers } = request;
    const own = await proxy.answer(path);
    if (own !== undefined) return void response.end(JSON.stringify(own));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await fetch(target + path, {
      method,
      headers: headers.accept === undefined ? {} : { accept: headers.accept },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const bytes = await answer.bytes();
    const isListed = path !== '/api/routes' || proxy.upgrade !== undefined;
    const body = proxy.alter(path, isListed ? bytes : withoutEvents(bytes));
    if (body === undefined) return void response.destroy();
    const handedOn = Array.from(answer.headers).filter(([name]) => HANDED_ON.test(name));
    const sent = { ...Object.fromEntries(handedOn), ...proxy.headers };
    response.writeHead(answer.status, sent).end(body);
  });
  server.on('upgrade', (request, socket, head) => proxy.upgrade?.(request, socket, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: AlteringProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    alter: (_path, body) => body,
    answer: () => undefined,
    headers: {},
    upgrade: undefined,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return proxy;
}
