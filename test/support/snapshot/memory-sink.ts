/**
 * Snapshot files in memory, and a sink that holds the ledger in memory.
 */
import { setImmediate } from 'node:timers/promises';
import { compareBytes } from '../../../src/stardust/encoding/bytes.ts';
import type { SnapshotFile } from '../../../src/stardust/snapshot/byte-stream.ts';
import type {
  SnapshotMilestone,
  SnapshotOutput,
} from '../../../src/stardust/snapshot/snapshot-records.ts';
import type { LedgerChange, LedgerSink } from '../../../src/stardust/snapshot/snapshot-sink.ts';

/** Bytes as a file with chunks of `chunkLength` bytes. `size` is given only to be wrong. */
export function fileOf(bytes: Uint8Array, chunkLength = 65536, size = bytes.length): SnapshotFile {
  return {
    size,
    chunks: (async function* () {
      for (let at = 0; at < bytes.length; at += chunkLength)
        yield bytes.subarray(at, at + chunkLength);
    })(),
  };
}

/**
 * As strict as LedgerSink requires. After `dieAfter` changes it fails once, as if the process had
 * been killed.
 */
export class MemorySink implements LedgerSink {
  readonly outputs = new Map<string, SnapshotOutput>();
  readonly milestones = new Map<number, SnapshotMilestone>();
  position = 0;
  identity: string | undefined;
  changes = 0;
  dieAfter = Number.POSITIVE_INFINITY;

  async begin(identity: string): Promise<number> {
    if (this.identity !== identity) {
      this.identity = identity;
      this.outputs.clear();
      this.milestones.clear();
      this.position = 0;
    }
    return this.position;
  }

  async apply({ add, remove, milestones, position }: LedgerChange): Promise<void> {
    if (this.changes === this.dieAfter) {
      this.dieAfter = Number.POSITIVE_INFINITY;
      throw new Error('killed');
    }
    this.changes++;
    // as a database, which takes its time: whoever does not wait goes on meanwhile
    await setImmediate();
    for (const output of add) {
      const key = output.outputId.toHex();
      if (this.outputs.has(key)) throw new Error(`output ${key} is there already`);
      this.outputs.set(key, output);
    }
    for (const id of remove) {
      if (!this.outputs.delete(id.toHex())) throw new Error(`output ${id.toHex()} is not there`);
    }
    for (const milestone of milestones) this.milestones.set(milestone.index, milestone);
    this.position = position;
  }

  /** In order of their IDs. */
  get sorted(): SnapshotOutput[] {
    return [...this.outputs.values()].sort((a, b) => compareBytes(a.outputId, b.outputId));
  }
}
