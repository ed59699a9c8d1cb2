/**
 * Builds the Worker once for all end-to-end tests: `inject('builtWorker')` is the folder to give to
 * {@link startEdge}. Other tests that call builtWorker find it there.
 */
import type { TestProject } from 'vitest/node';
import { builtWorker } from '../../../cli/lib/wrangler/build-worker.ts';

declare module 'vitest' {
  interface ProvidedContext {
    builtWorker: string;
  }
}

export default async function setUp({ provide }: TestProject): Promise<void> {
  provide('builtWorker', await builtWorker());
}
