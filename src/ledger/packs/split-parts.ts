/**
 * Cuts what is stored into rows that D1 takes.
 */
import { MAX_PACK_BLOCKS } from './pack-columns.ts';

/**
 * Characters of a pack. One block may exceed it by itself, by 150 KB, and the row still fits into
 * the 2,000,000 bytes that D1 allows.
 */
export const MAX_PACK_LENGTH = 800_000;

/**
 * Items in order, in parts of at most so many and of at most that length, but one at least each.
 */
export function splitIntoParts<T>(
  items: readonly T[],
  lengthOf: (item: T) => number,
  {
    most = MAX_PACK_BLOCKS,
    length: limit = MAX_PACK_LENGTH,
  }: { most?: number; length?: number } = {},
): T[][] {
  const parts: T[][] = [];
  let length = 0;
  for (const item of items) {
    const own = lengthOf(item);
    const part = parts.at(-1);
    if (part === undefined || part.length === most || length + own > limit) {
      parts.push([item]);
      length = own;
    } else {
      part.push(item);
      length += own;
    }
  }
  return parts;
}
