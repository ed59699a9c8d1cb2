/** Walks from some blocks down to those that the ledger knows, breadth first. */
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import type { ConeSkeleton } from './cone-skeleton.ts';

/** IDs are hex digits. */
export interface WalkTools {
  /** Returns a block that is at hand: it is not looked up, however many levels deep. */
  recall?: ((id: string) => ParsedBlock | undefined) | undefined;
  /** Returns the blocks at which the walk ends. */
  findKnown(ids: readonly string[]): Promise<{ has(id: string): boolean }>;
  /** Returns the blocks below which the walk goes on. */
  fetch(ids: readonly string[]): Promise<readonly ParsedBlock[]>;
  /** Called with each block that is not known. */
  meet?: (id: string, block: ParsedBlock) => void;
}

/** Blocks in one go, in memory together: 480 transactions of 31 KB took 86 MB, 128 take 24. */
export const WALKED_AT_ONCE = 128;

/**
 * Notes in the skeleton what is below its blocks. If a tool throws, the walk can be continued.
 *
 * @param walked number of blocks of the skeleton that an earlier walk has come to
 * @param progress called with that number after each go
 */
export async function walkDown(
  skeleton: ConeSkeleton,
  { recall, findKnown, fetch, meet }: WalkTools,
  walked = 0,
  progress: (walked: number) => void = () => {},
): Promise<void> {
  const enter = (id: string, block: ParsedBlock) => {
    meet?.(id, block);
    skeleton.setParents(id, block.block.parents.map(toHexDigits));
  };
  for (let at = walked; at < skeleton.size; progress(at)) {
    const missing: string[] = [];
    for (; at < skeleton.size && missing.length < WALKED_AT_ONCE; at++) {
      const id = skeleton.idAt(at);
      const block = recall?.(id);
      if (block === undefined) missing.push(id);
      else enter(id, block);
    }
    const known = await findKnown(missing);
    const unknown = missing.filter((id) => !known.has(id));
    for (const block of await fetch(unknown)) enter(toHexDigits(block.id), block);
  }
}
