/**
 * Blocks as bytes, for the many blocks of a large cone: parsed, a transaction takes ten times as
 * much heap. When there are too many, those that came first are dropped, and have to be fetched
 * anew.
 */
import { type ParsedBlock, parseBlock } from '../stardust/block.ts';
import type { MeasuredBlockCache } from './block-cache.ts';

/** The heap of a block's ID, its place in the map and its array. */
const OVERHEAD_BYTES = 400;

export type RawBlockCache = Pick<MeasuredBlockCache, 'get' | 'set' | 'delete' | 'clear' | 'size'>;

/** @param maxHeapBytes that all blocks take together */
export function createRawBlockCache(maxHeapBytes: number): RawBlockCache {
  const kept = new Map<string, Uint8Array>();
  let heapBytes = 0;
  const remove = (id: string): void => {
    const bytes = kept.get(id);
    if (bytes === undefined) return;
    kept.delete(id);
    heapBytes -= OVERHEAD_BYTES + bytes.length;
  };
  return {
    get size() {
      return kept.size;
    },
    get(id) {
      const bytes = kept.get(id);
      return bytes && parseAgain(bytes);
    },
    set(id, { bytes }) {
      remove(id);
      kept.set(id, bytes);
      heapBytes += OVERHEAD_BYTES + bytes.length;
      for (const first of kept.keys()) {
        if (heapBytes <= maxHeapBytes) break;
        remove(first);
      }
    },
    delete: remove,
    clear() {
      kept.clear();
      heapBytes = 0;
    },
  };
}

function parseAgain(bytes: Uint8Array): ParsedBlock {
  const result = parseBlock(bytes);
  if (!result.ok) throw new Error(`a block that was parsed before breaks ${result.reason}`);
  return result.parsed;
}
