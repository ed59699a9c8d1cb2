/**
 * Open blocks that the requests of one isolate fetched, so that the next question about the same tips fetches less: a coordinator asks again, and others with it.
 *
 * What is remembered stays right. A block's content is fixed by its ID. That no milestone up to our ledger referenced it when it was fetched stays true, and a
 * later milestone that does is taken in with it: then D1 knows the block, whose ID it keeps. Only an import can leave that out, so a new ledger forgets all.
 */
import type { ParsedBlock } from '../stardust/block.ts';
import type { FetchedBlocks } from './fetch-blocks.ts';

/** Bytes of blocks, a small part of an isolate's 128 MB. */
const MAX_BYTES = 4_000_000;

/** @returns gives the memory of one ledger, named by its generation (ledger/head.ts) */
export function createBlockMemory(): (generation: string) => FetchedBlocks {
  const blocks = new Map<string, ParsedBlock>();
  let bytes = 0;
  let owner: string | undefined;

  function forget(): void {
    blocks.clear();
    bytes = 0;
  }

  return (generation) => {
    if (generation !== owner) forget();
    owner = generation;
    return {
      get: (id) => (generation === owner ? blocks.get(id) : undefined),
      set(id, block) {
        // a request that outlives its ledger knows nothing about the one that replaced it
        if (generation !== owner) return;
        bytes += block.bytes.length;
        if (bytes > MAX_BYTES) forget();
        blocks.set(id, block);
      },
    };
  };
}
