/**
 * Where a snapshot goes: the sink that an importer implements, and the outbox that hands it operations in batches.
 *
 * An import of millions of outputs is bound to be interrupted some day. The operations that files lead to are the same each time and have positions
 * 1, 2, 3 …: a sink that keeps the position of the last one, together with what it did, can go on behind it.
 */
import type { SnapshotMilestone, SnapshotOutput } from './snapshot-records.ts';

export interface LedgerChange {
  /** Outputs that the ledger does not hold yet. */
  add: SnapshotOutput[];
  /** IDs of outputs that it holds, those of `add` included. */
  remove: Uint8Array[];
  /** Milestones worth keeping, in no order; none is later than the ledger will be. */
  milestones: SnapshotMilestone[];
  /** Of the last operation in this change. */
  position: number;
}

export interface LedgerSink {
  /**
   * Called first and once, with a name for these very files. Resolves to the position of the last operation applied when they were read before, and
   * to 0 where that never happened; then the sink begins with an empty ledger.
   */
  begin(identity: string): Promise<number>;
  /**
   * Applies a change, additions first, and notes its position: all of it or nothing. Rejects if an output to add is there or one to remove is
   * missing: the totals would no longer be those of the ledger.
   */
  apply(change: LedgerChange): Promise<void>;
}

/** Operations to a change: enough to make a database transaction worth while, few enough to hold. */
const BATCH_SIZE = 1000;

export class ChangeBatcher {
  /** Of the last operation so far, applied before or not. */
  position = 0;
  readonly #sink: LedgerSink;
  readonly #applied: number;
  readonly #afterFlush: () => void;
  #change: LedgerChange = emptyChange();
  #flushedAt = 0;

  /** Operations up to position `applied` were applied earlier and are left out. `afterFlush` is called whenever the sink is up to date. */
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

  /** Hands over what is left. Due where an output may come back that was removed before, as additions are applied first. */
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
