/**
 * The page's side of the layout worker.
 */
import type { ConeLayout, LayoutBlock } from './layout.ts';

/** Rejects if the worker cannot be loaded, or does not find a layout. */
export function requestLayout(blocks: readonly LayoutBlock[]): Promise<ConeLayout> {
  const worker = new Worker('/explorer/layout.js', { type: 'module' });
  return new Promise<ConeLayout>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<ConeLayout>) => resolve(data));
    worker.addEventListener('error', () => reject(new Error('The graph could not be laid out.')));
    worker.postMessage(blocks);
  }).finally(() => worker.terminate());
}
