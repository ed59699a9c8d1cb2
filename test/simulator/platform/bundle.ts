/**
 * `src/worker.ts` as wrangler bundles it, with esbuild: a function that makes an isolate, with its
 * own modules, out of the globals that it is given. Patches (planted mistakes, small limits) change
 * the source on its way; a text that is not found exactly once is an error.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { compileFunction } from 'node:vm';
import { build, type Plugin } from 'esbuild';
import { PROJECT } from '../../../cli/lib/project.ts';
import { type Limits, withLimits } from './limits.ts';

export interface Patch {
  name: string;
  /** From the project's root. */
  file: string;
  /** Found exactly once in the file. */
  text: string;
  instead: string;
}

export class PatchNotFound extends Error {
  override readonly name = 'PatchNotFound';
}

/** What the bundle exports: the Worker, and what an operator's commands run on its database. */
export type Product = typeof import('../../../src/worker.ts') &
  typeof import('../../../src/ledger/import/load-snapshot.ts') &
  typeof import('../../../src/ledger/read/ledger-state-hash.ts') &
  typeof import('../../../src/ledger/write/scrub.ts') &
  typeof import('../../../src/modules/list.ts') &
  typeof import('../../../cli/backup/cut-statements.ts') &
  typeof import('../../../cli/backup/renew-generation.ts') & {
    /** Said here: the types hold where the module `events` is taken away. */
    EventBroker: new (
      ctx: never,
      env: never,
    ) => object;
  };

export type MakeIsolate = (globals: Record<string, unknown>) => Product;

const ENTRY = `
  export { default, EventBroker, Follower } from './src/worker.ts';
  export { loadSnapshot } from './src/ledger/import/load-snapshot.ts';
  export { ledgerStateHash } from './src/ledger/read/ledger-state-hash.ts';
  export { scrub } from './src/ledger/write/scrub.ts';
  export { MODULES } from './src/modules/list.ts';
  export { cutStatement } from './cli/backup/cut-statements.ts';
  export { renewGeneration } from './cli/backup/renew-generation.ts';
`;

/** Globals of workerd that are the simulation's in an isolate. */
const GLOBAL_NAMES = [
  'randomNumber',
  'Date',
  'performance',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'crypto',
  'console',
  'fetch',
  'caches',
  'WebSocket',
  'WebSocketPair',
  'Response',
  'AbortSignal',
] as const;

/** Globals that a simulation does not provide: code that used them would leave the seed's control. */
const FORBIDDEN =
  /\b(Math\.random|setImmediate|queueMicrotask|process\.|scheduler\.|Temporal\.|Intl\.|WeakRef|FinalizationRegistry)/;

const made = new Map<string, Promise<MakeIsolate>>();

/** The product with these limits and patches; made once in a process. */
export function bundleProduct(
  limits: Limits,
  patches: readonly Patch[] = [],
): Promise<MakeIsolate> {
  const key = JSON.stringify([limits, patches]);
  const known = made.get(key) ?? bundle(limits, patches);
  made.set(key, known);
  return known;
}

/** The bundle, with an inline source map, and how stacks name it. */
export async function bundleText(
  limits: Limits,
  patches: readonly Patch[] = [],
): Promise<{ code: string; path: string }> {
  const unused = new Set(patches);
  const result = await build({
    stdin: {
      contents: ENTRY,
      resolveDir: PROJECT,
      sourcefile: 'simulated-product.ts',
      loader: 'ts',
    },
    bundle: true,
    format: 'cjs',
    target: 'esnext',
    conditions: ['workerd', 'worker'],
    platform: 'neutral',
    mainFields: ['module', 'main'],
    sourcemap: 'inline',
    sourcesContent: false,
    write: false,
    logLevel: 'silent',
    // the one name that is no global by itself
    define: { 'Math.random': 'randomNumber' },
    plugins: [changed(limits, patches, unused)],
    outfile: 'product.js',
  });
  if (unused.size > 0)
    throw new PatchNotFound(`not in the bundle: ${[...unused].map(({ file }) => file).join(', ')}`);
  const code = result.outputFiles[0]!.text;
  const forbidden = FORBIDDEN.exec(code.replace(/\n\/\/# sourceMappingURL=.*/, ''));
  if (forbidden !== null) throw new Error(`the product uses ${forbidden[0]}`);
  return { code, path: `${PROJECT}/simulated-product-${limits}.js` };
}

async function bundle(limits: Limits, patches: readonly Patch[]): Promise<MakeIsolate> {
  const { code, path } = await bundleText(limits, patches);
  const run = compileFunction(code, ['module', ...GLOBAL_NAMES], { filename: path });
  return (globals) => {
    const module = { exports: {} as Product };
    run(module, ...GLOBAL_NAMES.map((name) => globals[name]));
    return module.exports;
  };
}

const PLATFORM = `export class DurableObject {
  constructor(ctx, env) { this.ctx = ctx; this.env = env; }
}`;

function changed(limits: Limits, patches: readonly Patch[], unused: Set<Patch>): Plugin {
  return {
    name: 'changed',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^cloudflare:workers$/ }, () => ({
        path: 'workers',
        namespace: 'platform',
      }));
      onLoad({ filter: /.*/, namespace: 'platform' }, () => ({ contents: PLATFORM }));
      onLoad({ filter: /\/(?:src|cli)\/.*\.ts$/ }, ({ path }) => {
        const file = relative(PROJECT, path);
        let source = readFileSync(path, 'utf8');
        for (const patch of patches) {
          if (patch.file !== file) continue;
          if (source.split(patch.text).length !== 2)
            throw new PatchNotFound(`${file}: not exactly once: ${patch.text}`);
          source = source.replace(patch.text, () => patch.instead);
          unused.delete(patch);
        }
        return { contents: withLimits(limits, file, source), loader: 'ts' };
      });
    },
  };
}
