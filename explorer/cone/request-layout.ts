/**
 * The page's side of the layout worker.
 */
import type { ConeLayout, LayoutBlock } from './layout.ts';

const MAX_MS = 10_000;

/** Rejects if the worker cannot be loaded, or finds no layout in time. */
export function requestLayout(blocks: readonly LayoutBlock[]): Promise<ConeLayout> {
  const worker = new Worker('/explorer/layout.js', { type: 'module' });
  let timer: ReturnType<typeof setTimeout>;
  return new Promise<ConeLayout>((resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The graph takes too long to lay out.')), MAX_MS);
    worker.addEventListener('message', ({ data }: MessageEvent<ConeLayout>) => resolve(data));
    worker.addEventListener('error', () => reject(new Error('The graph could not be laid out.')));
    worker.postMessage(blocks);
  }).finally(() => {
    clearTimeout(timer);
    worker.terminate();
  });
}
