/**
 * Blocks that were fetched for a milestone and are not stored yet. They outlive a pass that failed or came to its budget's end: their content is fixed by their
 * IDs, so that nothing speaks against what came, and a cone too large for one pass comes in over several.
 */
import type { ParsedBlock } from '../stardust/block.ts';

/** Bytes of heap that a parsed block takes, measured: data lies in it as it came, a transaction is made of ten times as much. */
export function heapOf({ bytes, transaction }: ParsedBlock): number {
  return 1000 + (transaction === undefined ? 1 : 10) * bytes.length;
}

/** By hex ID, with the bytes of heap that they take. */
export class FetchedBlocks extends Map<string, ParsedBlock> {
  heap = 0;

  override set(id: string, block: ParsedBlock): this {
    if (!this.has(id)) this.heap += heapOf(block);
    return super.set(id, block);
  }

  override delete(id: string): boolean {
    const block = this.get(id);
    if (block !== undefined) this.heap -= heapOf(block);
    return super.delete(id);
  }

  override clear(): void {
    this.heap = 0;
    super.clear();
  }
}
