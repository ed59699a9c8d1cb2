/**
 * Whether an address can be listened at, asked before anything is started.
 */
import { createServer } from 'node:net';

/** Rejects with a sentence if it cannot. */
export function checkAddress(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(describe(error.code, host, port), { cause: error })),
    );
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

function describe(code: string | undefined, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `port ${port} of ${host} is in use: name another by --port`;
  if (code === 'EACCES') return `port ${port} needs rights that this process does not have`;
  return `${host} is no address of this machine (${code}): name another by --host`;
}
