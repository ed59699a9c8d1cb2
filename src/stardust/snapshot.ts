/** HORNET's snapshot files (docs/snapshot-format.md). The subpath `/snapshot` (README.md). */
import { verifyEd25519 } from './crypto/ed25519.ts';
import type { MilestoneKeys, VerifySignature } from './milestone-keys.ts';
import { ByteStream, type SnapshotFile, type SnapshotKind } from './snapshot/byte-stream.ts';
import { checkSignatures } from './snapshot/milestone-chain.ts';
import {
  type DeltaHeader,
  type FullHeader,
  readDeltaHeader,
  readFullHeader,
} from './snapshot/snapshot-header.ts';
import { readRecords, type SnapshotRecord } from './snapshot/snapshot-records.ts';

export interface ReadSnapshotOptions {
  /** Kind of the file; another one is refused. */
  kind: SnapshotKind;
  /** Keys that sign milestones. If absent, the signatures in the file are not checked. */
  keys?: MilestoneKeys;
  /** Decides about signatures by ZIP-215; by default in JavaScript. */
  verify?: VerifySignature;
}

/** The header comes first, then the records in the order of the file. */
export type SnapshotPart = { kind: 'header'; header: FullHeader | DeltaHeader } | SnapshotRecord;

/**
 * Reads a snapshot file, record by record: memory holds one of them. Throws a StardustError at the
 * first fault, with the offset in the file; whoever keeps records before the end keeps those of a
 * file that may turn out damaged. What the diffs do to the ledger is not computed.
 *
 * @example
 * ```ts
 * import { openAsBlob } from 'node:fs';
 * import { readSnapshot } from '@stardust-edge/protocol/snapshot';
 *
 * export async function countNfts(path: string): Promise<number> {
 *   const file = await openAsBlob(path);
 *   let nfts = 0;
 *   for await (const part of readSnapshot({ chunks: file.stream(), size: file.size }, { kind: 'full' }))
 *     if (part.kind === 'output' && part.output.value.type === 6) nfts++;
 *   return nfts;
 * }
 * ```
 */
export async function* readSnapshot(
  file: SnapshotFile,
  { kind, keys, verify = verifyEd25519 }: ReadSnapshotOptions,
): AsyncGenerator<SnapshotPart, void> {
  const stream = new ByteStream(kind, file);
  try {
    const read = kind === 'full' ? readFullHeader : readDeltaHeader;
    const header = await read(stream);
    yield { kind: 'header', header };
    for await (const record of readRecords(stream, header.counts)) {
      if (record.kind === 'diff' && keys !== undefined) {
        const { milestone, offset } = record;
        await stream.located(offset, () =>
          checkSignatures(milestone, { signers: { keys, verify } }),
        );
      }
      yield record;
    }
  } finally {
    await stream.close();
  }
}

export { type SnapshotFile, type SnapshotKind, SnapshotRefusal } from './snapshot/byte-stream.ts';
export { mergeSnapshot } from './snapshot/read-snapshot.ts';
export type { DeltaHeader, FullHeader } from './snapshot/snapshot-header.ts';
export type {
  MilestoneReference,
  SnapshotMilestone,
  SnapshotOutput,
  SnapshotRecord,
} from './snapshot/snapshot-records.ts';
export type { LedgerChange, LedgerSink } from './snapshot/snapshot-sink.ts';
