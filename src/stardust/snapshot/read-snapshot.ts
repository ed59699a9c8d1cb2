/**
 * Reads a full snapshot, and a delta snapshot that continues it, into a sink
 * (docs/snapshot-format.md). Memory holds one record, one batch of changes, the solid entry points,
 * and the IDs of the outputs that one milestone created. The files are verified while they are
 * read, and at the end: the ledger in the sink is complete only when mergeSnapshot resolves.
 */
import { blake2b256 } from '../crypto/hash.ts';
import { equalBytes, toHex, toHexDigits, Writer } from '../encoding/bytes.ts';
import type { ProtocolParametersOption } from '../wire/milestone.ts';
import type { ProtocolParameters } from '../wire/parameters.ts';
import type { Treasury } from '../wire/receipt.ts';
import { ByteStream, type SnapshotFile, type SnapshotKind } from './byte-stream.ts';
import { DeltaMerge, FullMerge, type Merge } from './merge-changes.ts';
import type { ChainRules } from './milestone-chain.ts';
import {
  type DeltaHeader,
  type FullHeader,
  readDeltaHeader,
  readFullHeader,
} from './snapshot-header.ts';
import { SnapshotLedger } from './snapshot-ledger.ts';
import { type RecordCounts, readRecords } from './snapshot-records.ts';
import { ChangeBatcher, type LedgerSink } from './snapshot-sink.ts';

export interface SnapshotProgress {
  file: SnapshotKind;
  /** Bytes read of `size`. */
  offset: number;
  size: number;
}

export interface SnapshotOptions extends Omit<ChainRules, 'genesisIndex'> {
  /** Called after each batch of changes that the sink applied. */
  onProgress?: (progress: SnapshotProgress) => void;
}

/** The ledger that the sink holds, except for its outputs. */
export interface SnapshotSummary {
  ledgerIndex: number;
  /** 32 bytes; at genesis, which has none, what the header says. */
  milestoneId: Uint8Array;
  /** Unix seconds. */
  timestamp: number;
  genesisIndex: number;
  /** Parameters in force at the ledger index. */
  currentParameters: ProtocolParameters;
  /** Former, current and pending, in order of their targets. */
  parameters: ProtocolParametersOption[];
  treasury: Treasury;
  /** Block IDs of the solid entry points, where the walks of the next milestones end (E.7). */
  solidEntryPoints: Uint8Array[];
  /** Unspent outputs, and how many of them are NFTs. */
  outputs: number;
  nfts: number;
  /** Milestones in the files, whose signatures only keys can check. */
  diffs: number;
}

/**
 * Reads the files from the first byte to the last. Rejects with a SnapshotRefusal if they break a
 * rule, and with any error of the sink or of the files' chunks. The files are released in any case.
 */
export async function mergeSnapshot(
  full: SnapshotFile,
  delta: SnapshotFile | undefined,
  sink: LedgerSink,
  options: SnapshotOptions = {},
): Promise<SnapshotSummary> {
  const fullStream = new ByteStream('full', full);
  const deltaStream = delta && new ByteStream('delta', delta);
  try {
    const fullHeader = await readFullHeader(fullStream);
    const base = { stream: fullStream, header: fullHeader };
    if (deltaStream === undefined) return await mergeFiles(base, undefined, sink, options);
    const deltaHeader = await readDeltaHeader(deltaStream);
    refuseForeignDelta(deltaStream, deltaHeader, fullHeader);
    return await mergeFiles(base, { stream: deltaStream, header: deltaHeader }, sink, options);
  } finally {
    await Promise.all([fullStream.close(), deltaStream?.close()]);
  }
}

/** A file whose header has been read. */
interface Opened<Header> {
  stream: ByteStream;
  header: Header;
}

/** 1.7: the delta must continue the full snapshot's target. Tested before anything is loaded. */
function refuseForeignDelta(stream: ByteStream, delta: DeltaHeader, { target }: FullHeader): void {
  if (!equalBytes(delta.fullTargetId, target.id))
    throw stream.refusal(
      `it continues milestone ${toHex(delta.fullTargetId)}, not the target of this full snapshot`,
      10,
    );
  if (delta.targetIndex - target.index !== delta.counts.diffs) {
    const way = `from milestone ${target.index} to milestone ${delta.targetIndex}`;
    throw stream.refusal(`${delta.counts.diffs} milestone diffs do not lead ${way}`, 50);
  }
}

async function mergeFiles(
  full: Opened<FullHeader>,
  delta: Opened<DeltaHeader> | undefined,
  sink: LedgerSink,
  options: SnapshotOptions,
): Promise<SnapshotSummary> {
  let current = full.stream;
  const applied = await sink.begin(identify(full, delta));
  const changes = new ChangeBatcher(sink, applied, () => {
    options.onProgress?.({ file: current.kind, offset: current.offset, size: current.size });
  });
  const ledger = new SnapshotLedger(full.header, changes);
  const rules = { ...options, genesisIndex: full.header.genesisIndex };
  await mergeFile(full, new FullMerge(full.header, ledger, rules));
  if (delta !== undefined) {
    current = delta.stream;
    await mergeFile(delta, new DeltaMerge(delta.header, ledger, rules));
  }
  const currentParameters = await current.located(current.offset, () => ledger.conclude());
  if (applied > changes.position)
    throw new Error(
      `the sink went on from operation ${applied}, the snapshot makes only ${changes.position}`,
    );
  return {
    ledgerIndex: ledger.milestone.index,
    milestoneId: ledger.milestone.id,
    timestamp: ledger.milestone.timestamp,
    genesisIndex: full.header.genesisIndex,
    currentParameters,
    parameters: ledger.parameters.options,
    treasury: ledger.treasury,
    solidEntryPoints: ledger.solidEntryPoints,
    outputs: ledger.totals.outputs,
    nfts: ledger.totals.nfts,
    diffs: full.header.counts.diffs + (delta?.header.counts.diffs ?? 0),
  };
}

/** Names these files: a hash of their headers, lengths and versions. */
function identify(...files: readonly (Opened<{ bytes: Uint8Array }> | undefined)[]): string {
  const parts = files.filter((file) => file !== undefined);
  const writer = new Writer();
  for (const { header, stream } of parts) writer.put(header.bytes).put(stream.version);
  return toHexDigits(blake2b256(writer.finish()));
}

async function mergeFile(
  { stream, header }: Opened<{ counts: RecordCounts }>,
  merge: Merge,
): Promise<void> {
  for await (const record of readRecords(stream, header.counts)) {
    await stream.located(record.offset, () => merge.take(record));
  }
  await stream.located(stream.offset, () => merge.finish());
}
