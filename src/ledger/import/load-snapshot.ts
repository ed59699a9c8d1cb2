/**
 * Imports a snapshot (docs/storage.md#import): it is staged beside the served ledger, and replaces
 * it at the end, in one step. A failure leaves the served ledger as it is; refused files leave no
 * trace. After an interruption the next import goes on with what was staged.
 */
import { StardustError } from '../../stardust/error.ts';
import { type SnapshotFile, SnapshotRefusal } from '../../stardust/snapshot/byte-stream.ts';
import {
  mergeSnapshot,
  type SnapshotOptions,
  type SnapshotSummary,
} from '../../stardust/snapshot/read-snapshot.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { ledgerStateHash } from '../read/ledger-state-hash.ts';
import { StagingSink } from './staged-ledger.ts';
import { stagingName } from './staging-tables.ts';

export interface LoadedLedger extends SnapshotSummary {
  /** Names this import (head.ts). */
  generation: string;
}

export interface LoadOptions extends SnapshotOptions {
  /** Hex SHA-256 of the full snapshot, if the read of its end checks it. Stored with the ledger. */
  sha256?: string | undefined;
  /** Whether the lists have every kind of output from the beginning, or NFTs alone. */
  indexAll?: boolean;
  /**
   * Called with the whole, verified ledger before it replaces the served one. A ReplacementRefused
   * ends the import, and nothing staged is left.
   */
  beforeReplacing?: (staged: SnapshotSummary, stateHash: Uint8Array) => Promise<void>;
}

/** The served ledger is to stay. The message is a sentence for people. */
export class ReplacementRefused extends Error {
  override readonly name = 'ReplacementRefused';
}

const NO_USE = [SnapshotRefusal, ReplacementRefused, LedgerDamaged];

const STAGED = {
  head: stagingName('head'),
  output: stagingName('output'),
  rests: stagingName('output_rest'),
};

/** Rejects with a SnapshotRefusal when the files are not good. */
export async function loadSnapshot(
  db: Database,
  full: SnapshotFile,
  delta: SnapshotFile | undefined,
  options: LoadOptions = {},
): Promise<LoadedLedger> {
  const sink = new StagingSink(db, options.indexAll);
  const generation = crypto.randomUUID();
  try {
    const summary = await mergeSnapshot(full, delta, sink, options);
    await sink.complete(summary, generation, options.sha256);
    await options.beforeReplacing?.(summary, await ledgerStateHash(db, STAGED));
    await sink.replace();
    return { ...summary, generation };
  } catch (error) {
    // faults of the ledger as a whole are found when all has been read
    const isOfWhole = error instanceof StardustError && !(error instanceof SnapshotRefusal);
    const [kind, { size }] = delta ? ['delta' as const, delta] : ['full' as const, full];
    const refusal = isOfWhole ? new SnapshotRefusal(kind, size, error.reason, error) : error;
    // what was staged is of no use to another try
    if (NO_USE.some((kind) => refusal instanceof kind)) await sink.drop();
    throw refusal;
  }
}
