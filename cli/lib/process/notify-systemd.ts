/**
 * Tells systemd that the node answers (`Type=notify` and `WatchdogSec=` of the unit in systemd/; the
 * protocol is sd_notify(3)).
 *
 * Node has no datagram sockets of the Unix kind, so systemd-notify sends each message.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';

/** What the front says where there is no node (serve/front/connection.ts). */
export const STARTING = 'the node is starting';

/** Requests in each watchdog interval: systemd restarts the service after that many failures. */
const CHECKS = 8;

/**
 * To be called once, when the node answers.
 *
 * @param environment has NOTIFY_SOCKET and WATCHDOG_USEC if systemd wants messages
 */
export function tellSystemd(
  url: string,
  {
    NOTIFY_SOCKET: socket,
    WATCHDOG_USEC: microseconds,
  }: Readonly<Record<string, string | undefined>>,
): void {
  if (socket === undefined) return;
  notify('READY=1');
  if (microseconds === undefined) return;
  const everyMs = Math.floor(Number(microseconds) / 1000 / CHECKS);
  setInterval(() => void prove(url, everyMs), everyMs).unref();
}

async function prove(url: string, withinMs: number): Promise<void> {
  try {
    await requestHealth(url, withinMs);
    notify('WATCHDOG=1');
  } catch (error) {
    console.error(`/health was not answered within ${withinMs} ms: ${(error as Error).message}`);
  }
}

/**
 * Resolves with any answer of the node, which may well be unhealthy, but not with the front's while
 * there is none. Over a connection of its own.
 */
export async function requestHealth(url: string, withinMs: number): Promise<void> {
  const signal = AbortSignal.timeout(withinMs);
  const request = get(new URL('/health', url).href, { agent: false, signal });
  request.on('socket', (socket) => socket.unref());
  // also after the answer has begun
  request.on('error', () => {});
  const [response] = await once(request, 'response');
  response.resume();
  if (response.headers['x-error-detail'] === STARTING) throw new Error(STARTING);
}

function notify(message: string): void {
  spawn('systemd-notify', [message], { stdio: 'ignore' })
    .on('error', (error) => console.error(`systemd does not hear of ${message}: ${error.message}`))
    .unref();
}
