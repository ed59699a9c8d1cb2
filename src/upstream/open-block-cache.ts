/**
 * Open blocks that were fetched and are not stored: by the requests of one isolate, so that the next question about the same tips fetches less, as a coordinator
 * asks again and others with it; and by the follower, so that it gets through more tips than it may fetch in one pass.
 *
 * What is remembered stays right. A block's content is fixed by its ID. That no milestone up to our ledger referenced it when it was fetched stays true, and a
 * later milestone that does is taken in with it: then D1 knows the block, and keeps its ID for long. Only an import can leave that out, so a new ledger forgets
 * all.
 */
import type { ParsedBlock } from '../stardust/block.ts';
import { heapOf } from './fetched-blocks.ts';

/** Milestones after which a block is not remembered any more, well before D1 forgets an ID (4 × the least retention, ledger/prune.ts). */
const MAX_AGE = 35;

export interface BlockMemory {
  get(id: string): ParsedBlock | undefined;
  set(id: string, block: ParsedBlock): void;
  delete(id: string): void;
}

/**
 * @param maxBytes of heap; before it would take more all are forgotten
 * @returns gives the memory of one ledger, named by its generation (ledger/head.ts), as of its index
 */
export function createBlockMemory(
  maxBytes: number,
): (generation: string, ledger: number) => BlockMemory {
  const blocks = new Map<string, { block: ParsedBlock; ledger: number }>();
  let bytes = 0;
  let owner: string | undefined;

  function forget(): void {
    blocks.clear();
    bytes = 0;
  }

  function drop(id: string): void {
    const kept = blocks.get(id);
    if (kept !== undefined && blocks.delete(id)) bytes -= heapOf(kept.block);
  }

  return (generation, ledger) => {
    if (generation !== owner) forget();
    owner = generation;
    return {
      get(id) {
        const kept = generation === owner ? blocks.get(id) : undefined;
        if (kept === undefined || ledger - kept.ledger <= MAX_AGE) return kept?.block;
        drop(id);
        return undefined;
      },
      set(id, block) {
        // a request that outlives its ledger knows nothing about the one that replaced it
        if (generation !== owner) return;
        drop(id);
        if (bytes + heapOf(block) > maxBytes) forget();
        blocks.set(id, { block, ledger });
        bytes += heapOf(block);
      },
      delete(id) {
        if (generation === owner) drop(id);
      },
    };
  };
}
