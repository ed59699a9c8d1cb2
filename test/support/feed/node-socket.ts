/**
 * The WebSocket of a feed (src/modules/feed/web-socket.ts), in Node.
 */
import { WebSocket } from 'ws';
import type { OpenSocket } from '../../../src/modules/feed/web-socket.ts';
import { UpstreamFailure } from '../../../src/upstream/upstream.ts';

export const openNodeSocket: OpenSocket = ({ url, headers }, { received, lost }, signal) => {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<OpenSocket>>>();
  const socket = new WebSocket(url, 'mqtt', { headers });
  signal.addEventListener('abort', () => {
    if (socket.readyState === WebSocket.CONNECTING) socket.terminate();
  });
  let open = true;
  socket.on('error', (error) => reject(new UpstreamFailure(error.message)));
  socket.on('message', (data: Buffer) => {
    if (open) received(new Uint8Array(data));
  });
  socket.on('close', (code) => {
    if (open) lost(`closed with code ${code}`);
    open = false;
  });
  socket.on('open', () =>
    resolve({
      send: (bytes) => socket.send(bytes),
      close() {
        open = false;
        socket.close(1000);
      },
    }),
  );
  return promise;
};
