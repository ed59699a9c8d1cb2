/**
 * Processes that tests start: what they print, line by line, and their end.
 */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { createInterface } from 'node:readline';
import { PROJECT } from '../../../cli/lib/project.ts';

export type Launched = ReturnType<typeof launch>;

/** @param options `detached`: in a process group of its own, as a shell makes for a command */
export function launch(
  command: string,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; detached?: boolean } = {},
) {
  const { env, detached = false } = options;
  const child = spawn(command, args, {
    ...{ cwd: PROJECT, env: { ...process.env, ...env }, detached },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  /** Lines of both outputs since the start. */
  const log: string[] = [];
  const logged = new EventEmitter().setMaxListeners(0);
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      log.push(line);
      logged.emit('line', line);
    });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;

  return {
    child,
    log,
    /** Resolves to the next line like this, to undefined if none comes for so many milliseconds. */
    nextLine: (like: RegExp, milliseconds: number) =>
      new Promise<string | undefined>((resolve) => {
        const end = (line?: string) => {
          clearTimeout(timer);
          logged.off('line', look);
          resolve(line);
        };
        const look = (line: string) => like.test(line) && end(line);
        const timer = setTimeout(end, milliseconds);
        logged.on('line', look);
      }),
    /** Resolves to the match of the first line like this; rejects if the process ends before. */
    until: (like: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const look = (line: string) => {
          const match = like.exec(line);
          if (match === null) return;
          logged.off('line', look);
          resolve(match);
        };
        logged.on('line', look);
        for (const line of log) look(line);
        child.once('close', (code) =>
          reject(new Error(`${args.join(' ')} ended with ${code}:\n${log.join('\n')}`)),
        );
      }),
    /** Does what ends the process, unless it has ended; resolves to its exit code. */
    async end(kill: () => unknown): Promise<number | null> {
      if (hasEnded()) return child.exitCode;
      const exit = once(child, 'exit');
      kill();
      await exit;
      return child.exitCode;
    },
    /** To the process and all that it has started, if it is detached. */
    signalGroup: (signal: NodeJS.Signals) => process.kill(-child.pid!, signal),
  };
}

/** Listens on a free port of this machine; resolves to the URL, without a slash at the end. */
export async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const { port } = new URL(await listen(server));
  server.close();
  return Number(port);
}
