/**
 * `/explorer/layout.js`: answers each list of blocks with its layout.
 */
import { type LayoutBlock, layOut } from './layout.ts';

addEventListener('message', ({ data }: MessageEvent<readonly LayoutBlock[]>) =>
  postMessage(layOut(data)),
);
