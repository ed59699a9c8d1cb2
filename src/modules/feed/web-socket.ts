/** A WebSocket from workerd to a node's broker: `<upstream>/api/mqtt/v1`, subprotocol `mqtt`. */
import { UpstreamFailure } from '../../upstream/upstream.ts';

export interface FeedSocket {
  send(bytes: Uint8Array<ArrayBuffer>): void;
  /** Nothing is received afterwards. */
  close(): void;
}

export interface SocketEvents {
  received(bytes: Uint8Array): void;
  /** The other side is gone. */
  lost(reason: string): void;
}

export interface FeedAddress {
  /** http or https: that is how fetch names ws and wss. */
  url: string;
  headers: Record<string, string>;
}

/** Opens a socket. Throws an UpstreamFailure if the other side refuses, and what fetch throws. */
export type OpenSocket = (
  address: FeedAddress,
  events: SocketEvents,
  signal: AbortSignal,
) => Promise<FeedSocket>;

export const openSocket: OpenSocket = async ({ url, headers }, events, signal) => {
  const response = await fetch(url, {
    headers: { ...headers, upgrade: 'websocket', 'sec-websocket-protocol': 'mqtt' },
    redirect: 'manual',
    signal,
  });
  const { webSocket } = response;
  if (webSocket === null) {
    await response.body?.cancel();
    throw new UpstreamFailure(`${new URL(url).host} mqtt/v1: status ${response.status}`);
  }
  let open = true;
  const lose = (reason: string) => {
    if (!open) return;
    open = false;
    events.lost(reason);
  };
  webSocket.binaryType = 'arraybuffer';
  webSocket.addEventListener('message', ({ data }) => {
    if (!open) return;
    if (data instanceof ArrayBuffer) events.received(new Uint8Array(data));
    else lose('a message that is not binary');
  });
  webSocket.addEventListener('close', ({ code }) => lose(`closed with code ${code}`));
  webSocket.addEventListener('error', ({ message }) => lose(`failed, ${message}`));
  webSocket.accept();
  return {
    send(bytes) {
      try {
        webSocket.send(bytes);
      } catch (error) {
        lose(`not writable, ${error instanceof Error ? error.message : error}`);
      }
    },
    close() {
      open = false;
      webSocket.close(1000);
    },
  };
};
