/**
 * A web application of another origin: an empty page on a port of its own, and sdk-wasm as a
 * bundler makes it for browsers.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { build } from 'esbuild';
import { listen } from '../edge/launch.ts';

const SDK = join(import.meta.dirname, '../../../node_modules/@iota/sdk-wasm/web');

export interface OtherOrigin {
  /** Of the page. The SDK is at `/sdk.js`, a module, and `/sdk.wasm`. */
  url: string;
  stop(): Promise<void>;
}

export async function serveOtherOrigin(): Promise<OtherOrigin> {
  const files: Record<string, { type: string; body: string | Uint8Array }> = {
    '/': {
      type: 'text/html',
      body: '<!doctype html><link rel="icon" href="data:," /><title>Wallet</title>',
    },
    '/sdk.js': { type: 'text/javascript', body: await bundleSdk() },
    '/sdk.wasm': {
      type: 'application/wasm',
      body: await readFile(join(SDK, 'wasm/iota_sdk_wasm_bg.wasm')),
    },
  };
  const server = createServer(({ url = '' }, response) => {
    const file = files[url];
    if (file === undefined) return response.writeHead(404).end();
    return response.writeHead(200, { 'content-type': file.type }).end(file.body);
  });
  return {
    url: await listen(server),
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bundleSdk(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(SDK, 'lib/index.js')],
    bundle: true,
    format: 'esm',
    write: false,
  });
  return outputFiles[0]!.text;
}
