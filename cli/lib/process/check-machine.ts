/**
 * What commands that serve check before they start anything: address, clock, disk and open files.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { callWith } from './command.ts';

interface Compatibility {
  compatibilityDate: string;
}

const today = () => new Date(Date.now()).toISOString().slice(0, 10);

/** Whether workerd takes the Worker on this day. */
export const isClockUsable = ({ compatibilityDate }: Compatibility): boolean =>
  today() >= compatibilityDate;

/** Throws an Error with a sentence unless {@link isClockUsable}. */
export function checkClock(compatibility: Compatibility): void {
  if (isClockUsable(compatibility)) return;
  throw new Error(
    `the clock of this machine says ${today()}, before the compatibility date of wrangler.toml, ` +
      `${compatibility.compatibilityDate}: set the clock`,
  );
}

/** What names the address. */
const OPTIONS = { serve: '--host', start: '--ip' };

/** Rejects with a sentence if nothing can listen at the address. */
export async function checkAddress(
  host: string,
  port: number,
  command: keyof typeof OPTIONS = 'serve',
): Promise<void> {
  // which no URL can name
  if (host.includes('%'))
    throw new Error(`${host} has a zone: name another address by ${OPTIONS[command]}`);
  const server = createServer();
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(describe(code, host, port, command), { cause: error });
  }
  await once(server.close(), 'close');
}

function describe(
  code: string | undefined,
  host: string,
  port: number,
  command: keyof typeof OPTIONS,
): string {
  if (code === 'EADDRINUSE')
    return `port ${port} of ${host} is in use: ${callWith(command, '--port N')} names another`;
  if (code === 'EACCES') return `port ${port} needs rights that this process does not have`;
  return `${host} is no address of this machine (${code}): name another by ${OPTIONS[command]}`;
}

/** Workerd does not start, and does not say why, if it cannot write. */
const MIN_FREE_BYTES = 4 << 20;

/** Throws an Error with a sentence if the folder's disk takes no more. */
export function requireSpace(folder: string): void {
  const probe = join(folder, 'space.probe');
  try {
    writeFileSync(probe, new Uint8Array(MIN_FREE_BYTES));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const sentence = `4 MB cannot be written to ${folder} (${code})`;
    throw new Error(`${sentence}: free some space, or name another folder by --persist-to`, {
      cause: error,
    });
  } finally {
    rmSync(probe, { force: true });
  }
}

/**
 * Descriptors that one process may have open. Node has raised its limit to the highest that it may
 * have, and its children have the same.
 */
export function readFileLimit(): number {
  // Windows has none
  if (process.platform === 'win32') return Number.POSITIVE_INFINITY;
  const text = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
}
