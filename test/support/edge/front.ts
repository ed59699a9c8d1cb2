/** The front of `npm run serve` with clients of bare bytes, before a server in workerd's place. */
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { BlockList, connect, type Server, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { type Front, openFront } from '../../../cli/serve/front/front.ts';
import { listen } from './launch.ts';

export const GET = 'GET /health HTTP/1.1\r\nHost: edge.example\r\n\r\n';

export async function served(server: Server): Promise<URL> {
  onTestFinished(() => void server.close());
  return new URL(await listen(server));
}

/** A front with a clock that can be set forward. */
export async function startFront(maxConnections = 100, maxBytes?: number) {
  const time = { ahead: 0 };
  const proxies = new BlockList();
  proxies.addSubnet('127.0.0.0', 8);
  const clock = () => performance.now() + time.ahead;
  const address = { host: '127.0.0.1', port: 0 };
  const bounds = { maxConnections, ...(maxBytes !== undefined && { maxBytes }) };
  const front = await openFront({ ...address, ...bounds, proxies, clock });
  onTestFinished(() => front.close());
  return { front, time };
}

/** Answers with the path and the client's address. */
export async function startEcho(): Promise<URL> {
  return served(
    createHttp((request, response) =>
      response.end(`${request.url} ${request.headers['cf-connecting-ip']}`),
    ),
  );
}

export interface Client {
  socket: Socket;
  received(): string;
  isOpen(): boolean;
}

export async function open(
  { url }: Pick<Front, 'url'>,
  text = '',
  address = '127.0.0.1',
  allowHalfOpen = false,
): Promise<Client> {
  const port = Number(url.port);
  const socket = connect({ port, host: '127.0.0.1', localAddress: address, allowHalfOpen });
  let received = '';
  socket.setEncoding('latin1');
  let isOpen = true;
  socket.on('data', (bytes) => (received += bytes));
  socket.on('error', () => {});
  socket.on('close', () => (isOpen = false));
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  onTestFinished(() => void socket.destroy());
  return { socket, received: () => received, isOpen: () => isOpen };
}

export const settled = (check: () => void) => vi.waitFor(check, 5000);
