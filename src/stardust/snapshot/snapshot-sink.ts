/**
 * Where a snapshot is written: the sink, which an importer implements, and the batcher, which hands
 * it changes. An import may be interrupted and resumed: the same files lead to the same operations,
 * with positions 1, 2, 3 …. A sink stores the position of the last operation in the transaction of
 * its effect, and a later import goes on after it.
 */
import type { SnapshotMilestone, SnapshotOutput } from './snapshot-records.ts';

export interface LedgerChange {
  /** Outputs that the ledger does not hold yet. */
  add: SnapshotOutput[];
  /** IDs of outputs to remove. The ledger holds them, or they are in `add`. */
  remove: Uint8Array[];
  /** Milestones to store, in no order. None is later than the ledger at the end of the import. */
  milestones: SnapshotMilestone[];
  /** Position of the last operation in this change. */
  position: number;
}

export interface LedgerSink {
  /**
   * Called once, first, with a name for these files. Resolves to the position of the last operation
   * that an earlier import of them applied; or to 0, and the sink starts with an empty ledger.
   */
  begin(identity: string): Promise<number>;
  /**
   * Applies a change, additions before removals, and stores its position, in one transaction.
   * Rejects if the ledger holds an output to add or lacks one to remove: the totals would be wrong.
   */
  apply(change: LedgerChange): Promise<void>;
}

/** Operations in a change: enough to be worth a database transaction, few enough for memory. */
const BATCH_SIZE = 1000;

export class ChangeBatcher {
  /** Position of the last operation so far, whether an earlier import applied it or not. */
  position = 0;
  readonly #sink: LedgerSink;
  readonly #applied: number;
  readonly #afterFlush: () => void;
  #change: LedgerChange = emptyChange();
  #flushedAt = 0;

  /** Skips operations up to `applied`, of an earlier import; calls `afterFlush` per batch. */
  constructor(sink: LedgerSink, applied: number, afterFlush: () => void) {
    this.#sink = sink;
    this.#applied = applied;
    this.#afterFlush = afterFlush;
  }

  async add(output: SnapshotOutput): Promise<void> {
    if (this.#isNew()) this.#change.add.push(output);
    await this.#flushWhenFull();
  }

  async remove(outputId: Uint8Array): Promise<void> {
    if (this.#isNew()) this.#change.remove.push(outputId);
    await this.#flushWhenFull();
  }

  async keep(milestone: SnapshotMilestone): Promise<void> {
    if (this.#isNew()) this.#change.milestones.push(milestone);
    await this.#flushWhenFull();
  }

  /** Hands over the rest, before a removed output may be added again: a change adds first. */
  async flush(): Promise<void> {
    const { add, remove, milestones } = this.#change;
    if (add.length + remove.length + milestones.length > 0) {
      await this.#sink.apply({ add, remove, milestones, position: this.position });
      this.#change = emptyChange();
    }
    this.#flushedAt = this.position;
    this.#afterFlush();
  }

  #isNew(): boolean {
    return ++this.position > this.#applied;
  }

  async #flushWhenFull(): Promise<void> {
    if (this.position - this.#flushedAt >= BATCH_SIZE) await this.flush();
  }
}

function emptyChange(): LedgerChange {
  return { add: [], remove: [], milestones: [], position: 0 };
}
