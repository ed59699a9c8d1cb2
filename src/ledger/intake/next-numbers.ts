/**
 * Which numbers are free for blocks and outputs: those that neither the head nor a live pack names.
 */
import type { Head } from '../core/head.ts';
import type { NextNumbers } from './known-outputs.ts';

/**
 * Numbers that live packs have given; those from these on are free. Blocks are only stored in the
 * last visible and the last staged pack.
 */
export const SELECT_NEXT = `
  SELECT max(next_block) AS next_block, max(next_output) AS next_output FROM (
    SELECT * FROM (SELECT next_block, next_output FROM pack WHERE live = 1 AND staged IS NULL
      ORDER BY key DESC LIMIT 1)
    UNION ALL SELECT * FROM (SELECT next_block, next_output FROM pack WHERE live = 1
      AND staged IS NOT NULL ORDER BY staged DESC, key DESC LIMIT 1))`;

/**
 * The highest next_block of a live pack, from a row of SELECT_NEXT; undefined where none is live.
 */
export function storedUpTo(row: Record<string, unknown>): number | undefined {
  return row.next_block === null ? undefined : Number(row.next_block);
}

/** @param row of SELECT_NEXT, of the same moment as the head */
export function nextNumbers(head: Head, row: Record<string, unknown>): NextNumbers {
  return {
    nextBlock: Math.max(head.nextBlock, Number(row.next_block)),
    nextOutput: Math.max(head.nextOutput, Number(row.next_output)),
  };
}
