/** Cuts what is stored into rows that D1 takes. */
import { MAX_PACK_BLOCKS } from './pack-columns.ts';

/** Characters of a pack. One block may exceed it by 150 KB; D1 takes rows of 2,000,000 bytes. */
export const MAX_PACK_LENGTH = 800_000;

/** Splits items into parts of at most `most` items and `length` characters, but one at least. */
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
