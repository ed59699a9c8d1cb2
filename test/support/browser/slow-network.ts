/**
 * A slow network for tests in browsers (SLOW=1): an HTTP proxy that holds each answer back for up to
 * 800 ms, so that answers overtake each other, and a test that does not wait for what it expects
 * fails.
 */
import { request as ask, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export const IS_SLOW = process.env.SLOW === '1';

/** Chromium's CPU is so many times slower. */
export const CPU_SLOWDOWN = 4;

const MAX_DELAY_MS = 800;

/** Starts a proxy on loopback, which does not keep the process alive. Resolves to its port. */
export async function startSlowProxy(): Promise<number> {
  const proxy = createServer((request, response) => {
    const { method, headers, url } = request;
    const { hostname, port, origin } = new URL(url!);
    // as it came: a URL loses the mark of an empty query
    const path = url!.slice(origin.length);
    const onward = ask({ hostname, port, path, method, headers }, async (answer) => {
      await pause(Math.random() * MAX_DELAY_MS);
      if (response.destroyed) return;
      response.writeHead(answer.statusCode!, answer.rawHeaders);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  // WebSockets
  proxy.on('connect', ({ url }, socket) => {
    const { hostname, port } = new URL(`http://${url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  proxy.unref();
  return (proxy.address() as AddressInfo).port;
}
