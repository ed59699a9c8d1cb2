/**
 * `npm start` itself, as the README has it: for tests that show what its users get.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '../../..');

export interface Started {
  url: string;
  stop(): Promise<void>;
}

/** Resolves when it has printed its second request with its answer. */
export async function npmStart(persistTo: string): Promise<Started> {
  const flags = ['--port', String(await freePort()), '--persist-to', persistTo];
  const child = spawn('npm', ['start', '--', ...flags], { cwd: PROJECT, detached: true });
  const ended = once(child, 'close');
  let text = '';
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (more: string) => {
        text += more;
        const url = /^Serving .*? at (http:\S+)\. .*"appliedMerkleRoot"/ms.exec(text)?.[1];
        if (url !== undefined) resolve(url);
      });
    }
    void ended.then(() => reject(new Error(`npm start ended:\n${text}`)));
  });
  return {
    url,
    async stop() {
      process.kill(-child.pid!, 'SIGTERM');
      await ended;
    },
  };
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        resolve(typeof address === 'object' && address !== null ? address.port : 0),
      );
    });
  });
}
