/**
 * What the kernel holds for each connection: answers that the client has not acknowledged, and what
 * the client sent and nobody has read. Node has no call that tells it; Linux has /proc/net/tcp
 * (proc_net_tcp in the kernel's documentation). Elsewhere it is not known, and counts as nothing.
 */
import { readFile } from 'node:fs/promises';
import { ipv6Groups } from '../../../src/http/access/client-address.ts';

const FILES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Local port, remote address and port, what was sent and what was received. */
const LINE =
  /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+:[0-9A-F]{4}) .. ([0-9A-F]{8}):([0-9A-F]{8})/;

const NOTHING = '00000000:00000000';

/** Bytes by remote address and port. */
export async function readKernelQueues(port: number): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  // a system may have neither file, or no IPv6
  const reading = FILES.map((file) => readFile(file, 'latin1').catch(() => ''));
  for (const text of await Promise.all(reading))
    for (const line of text.split('\n')) {
      if (line.includes(NOTHING)) continue;
      const [, local, remote, sent, received] = LINE.exec(line) ?? [];
      if (local === undefined || Number.parseInt(local, 16) !== port) continue;
      found.set(remote!, Number.parseInt(sent!, 16) + Number.parseInt(received!, 16));
    }
  return found;
}

/** The remote end as the file writes it: words of four bytes, each as this machine stores a number. */
export function kernelName(address: string, port: number): string {
  const [host = ''] = address.split('%', 1);
  const bytes = host.includes(':')
    ? ipv6Groups(host)!.map((group) => group.padStart(4, '0'))
    : host.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  const words = Buffer.from(bytes.join(''), 'hex').swap32().toString('hex');
  return `${words}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
