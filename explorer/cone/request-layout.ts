/**
 * The page's side of the layout worker.
 */
import type { Layout, LayoutBlock } from './layout.ts';

/** Rejects if the worker cannot be loaded, or does not find a layout. */
export function requestLayout(blocks: readonly LayoutBlock[]): Promise<Layout> {
  const worker = new Worker('/explorer/layout.js', { type: 'module' });
  return new Promise<Layout>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Layout>) => resolve(data));
    worker.addEventListener('error', () => reject(new Error('The graph could not be laid out.')));
    worker.postMessage(blocks);
  }).finally(() => worker.terminate());
}
