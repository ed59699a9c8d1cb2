import { vi } from 'vitest';
const files = import.meta.glob('./vectors/network-*/*.gz', { query: '?url&inline', import: 'default', eager: true }) as Record<string, string>;
vi.mock('node:fs', async (original) => ({
  ...(await original<typeof import('node:fs')>()),
  readFileSync(path: string) {
    const name = path.slice(path.indexOf('/test/vectors/') + '/test'.length);
    const url = files[`.${name}`];
    if (url === undefined) throw new Error(`no file ${path}`);
    return Uint8Array.fromBase64(url.slice(url.indexOf(',') + 1));
  },
}));
