/**
 * Tells systemd that the node answers (`Type=notify` and `WatchdogSec=` of the unit in systemd/; the
 * protocol is sd_notify(3)).
 *
 * Node has no datagram sockets of the Unix kind, so systemd-notify sends each message.
 */
import { spawn } from 'node:child_process';
import { get } from 'node:http';

/** Requests in each watchdog interval: systemd restarts the service after that many failures. */
const CHECKS = 4;

export interface ServiceManager {
  /** Called each time that the node starts to listen. */
  listening(url: string): void;
}

/** @param environment has NOTIFY_SOCKET and WATCHDOG_USEC if systemd wants messages */
export function openServiceManager({
  NOTIFY_SOCKET: socket,
  WATCHDOG_USEC: microseconds,
}: Readonly<Record<string, string | undefined>>): ServiceManager {
  let current: string | undefined;
  return {
    listening(url) {
      const isFirst = current === undefined;
      current = url;
      if (!isFirst || socket === undefined) return;
      notify('READY=1');
      if (microseconds === undefined) return;
      const everyMs = Number(microseconds) / 1000 / CHECKS;
      setInterval(() => void prove(current!, everyMs), everyMs).unref();
    },
  };
}

async function prove(url: string, withinMs: number): Promise<void> {
  try {
    await requestHealth(url, withinMs);
    notify('WATCHDOG=1');
  } catch (error) {
    console.error(`/health was not answered within ${withinMs} ms: ${(error as Error).message}`);
  }
}

/** Resolves with any answer, as the node may well be unhealthy. Over a connection of its own. */
function requestHealth(url: string, withinMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(withinMs);
    get(new URL('/health', url).href, { agent: false, signal }, (response) => {
      response.resume();
      resolve();
    })
      .on('socket', (each) => each.unref())
      .on('error', reject);
  });
}

function notify(message: string): void {
  spawn('systemd-notify', [message], { stdio: 'ignore' })
    .on('error', (error) => console.error(`systemd does not hear of ${message}: ${error.message}`))
    .unref();
}
