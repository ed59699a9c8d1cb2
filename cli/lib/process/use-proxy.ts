/**
 * The proxy that the environment names, as wrangler uses it: where all requests to other machines
 * must go through one, `deploy` would deploy a node and then wait for its health in vain.
 */
import { setGlobalProxyFromEnv } from 'node:http';

const THIS_MACHINE = 'localhost,127.0.0.1,::1';

/** For requests of this process to nodes. A proxy that cannot be one is told, and not used. */
export function useProxy(): void {
  try {
    setGlobalProxyFromEnv({ NO_PROXY: THIS_MACHINE, ...process.env });
  } catch {
    // it may have a password
    console.warn(
      'No proxy is used: HTTP_PROXY and HTTPS_PROXY must be as http://proxy.example:3128',
    );
  }
}
