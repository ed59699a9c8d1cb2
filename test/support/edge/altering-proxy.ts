/**
 * A proxy that hands on what a node answers, and may change the bytes of an answer: a node that
 * lies.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AlteringProxy extends AsyncDisposable {
  url: string;
  /** What becomes of the answer to a path; the bytes may be changed in place. */
  alter: (path: string, body: Uint8Array) => Uint8Array;
}

/** @param target base URL of the node */
export async function startProxy(target: string): Promise<AlteringProxy> {
  const server = createServer(async ({ url: path = '', headers: { accept } }, response) => {
    const answer = await fetch(target + path, { headers: accept === undefined ? {} : { accept } });
    const body = proxy.alter(path, await answer.bytes());
    const type = answer.headers.get('content-type');
    response.writeHead(answer.status, type === null ? {} : { 'content-type': type }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: AlteringProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    alter: (_path, body) => body,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return proxy;
}
