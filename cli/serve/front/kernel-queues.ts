/**
 * What the kernel holds for each connection: answers that the client has not acknowledged, and what
 * the client sent and nobody has read. Node has no call that tells it; Linux has /proc/net/tcp
 * (proc_net_tcp in the kernel's documentation). Elsewhere it is not known, and counts as nothing.
 */
import { readFile } from 'node:fs/promises';

const FILES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Local port, remote address and port, what was sent and what was received. */
const LINE =
  /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+:[0-9A-F]{4}) .. ([0-9A-F]{8}):([0-9A-F]{8})/;

const NOTHING = '00000000:00000000';

/** Bytes by remote address and port; undefined where the system does not tell. */
export async function readKernelQueues(port: number): Promise<Map<string, number> | undefined> {
  const found = new Map<string, number>();
  try {
    for (const text of await Promise.all(FILES.map((file) => readFile(file, 'latin1'))))
      for (const line of text.split('\n')) {
        if (line.includes(NOTHING)) continue;
        const [, local, remote, sent, received] = LINE.exec(line) ?? [];
        if (local === undefined || Number.parseInt(local, 16) !== port) continue;
        found.set(remote!, Number.parseInt(sent!, 16) + Number.parseInt(received!, 16));
      }
  } catch {
    return undefined;
  }
  return found;
}

/** The remote end as the file writes it: words of four bytes, each as this machine stores a number. */
export function kernelName(address: string, port: number): string {
  const words = address.includes(':') ? ipv6Words(address) : [ipv4Word(address)];
  const end = port.toString(16).toUpperCase().padStart(4, '0');
  return `${words.map(swap).join('')}:${end}`;
}

const hex = (value: number, digits: number) =>
  value.toString(16).toUpperCase().padStart(digits, '0');

const ipv4Word = (address: string) =>
  address
    .split('.')
    .map((part) => hex(Number(part), 2))
    .join('');

function ipv6Words(address: string): string[] {
  const [host] = address.split('%', 1);
  const [before = '', after] = new URL(`http://[${host}]`).hostname.slice(1, -1).split('::');
  const split = (text: string) => (text === '' ? [] : text.split(':'));
  const [head, tail] = [split(before), split(after ?? '')];
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  const groups = [...head, ...zeros, ...tail].map((group) => hex(Number.parseInt(group, 16), 4));
  return [0, 2, 4, 6].map((at) => `${groups[at]}${groups[at + 1]}`);
}

/** Little-endian, as all machines are on which Node runs. */
const swap = (word: string) => word.match(/../g)!.reverse().join('');
