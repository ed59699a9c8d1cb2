/**
 * Builds the Worker once for all end-to-end tests: `inject('builtWorker')` is the folder to give to
 * {@link startEdge}.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildWorker } from '../../../scripts/lib/wrangler/build-worker.ts';

declare module 'vitest' {
  interface ProvidedContext {
    builtWorker: string;
  }
}

export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'built-worker-'));
  await buildWorker(folder);
  provide('builtWorker', folder);
  return () => rm(folder, { recursive: true });
}
