/**
 * Writes snapshot files (docs/snapshot-format.md). It shares no layouts with the reader that it is
 * used to test.
 *
 * Everything is streamed, so that files of any size can be written.
 */
import { Writer } from '../../../src/stardust/encoding/bytes.ts';
import type { LedgerOutput } from '../../../src/stardust/wire/ledger-output.ts';
import type { Treasury } from '../../../src/stardust/wire/receipt.ts';

export interface WrittenDiff {
  /** Milestone payload. */
  payload: Uint8Array;
  /** There if the milestone has a receipt. */
  spentTreasury?: Treasury;
  created: readonly LedgerOutput[];
  consumed: readonly LedgerOutput[];
}

export interface WrittenFull {
  genesisIndex: number;
  target: { index: number; timestamp: number; id: Uint8Array };
  ledgerIndex: number;
  treasury: Treasury;
  /** Serialised protocol parameters, in force from `parametersTarget` on. */
  parameters: Uint8Array;
  parametersTarget: number;
  outputCount: number;
  outputs: Iterable<LedgerOutput>;
  /** Backwards from the ledger index. */
  diffs: readonly WrittenDiff[];
  solidEntryPoints: readonly Uint8Array[];
}

export interface WrittenDelta {
  targetIndex: number;
  targetTimestamp: number;
  fullTargetId: Uint8Array;
  /** Forwards. */
  diffs: readonly WrittenDiff[];
  solidEntryPoints: readonly Uint8Array[];
}

export function* writeFull(full: WrittenFull): Generator<Uint8Array, void> {
  const { target, treasury, parameters } = full;
  const header = new Writer().u8(2).u8(0);
  header
    .u32(full.genesisIndex)
    .u32(target.index)
    .u32(target.timestamp)
    .put(target.id)
    .u32(full.ledgerIndex);
  header.put(treasury.milestoneId).u64(treasury.amount);
  header.u16(8 + parameters.length);
  header.u8(1).u32(full.parametersTarget).u8(2).u16(parameters.length).put(parameters);
  header.u64(BigInt(full.outputCount)).u32(full.diffs.length).u16(full.solidEntryPoints.length);
  yield header.finish();
  for (const each of full.outputs) yield outputRecord(each);
  for (const diff of full.diffs) yield diffRecord(diff);
  yield* full.solidEntryPoints;
}

export function* writeDelta(delta: WrittenDelta): Generator<Uint8Array, void> {
  const diffs = delta.diffs.map(diffRecord);
  const end = diffs.reduce((length, diff) => length + diff.length, 56);
  const header = new Writer()
    .u8(2)
    .u8(1)
    .u32(delta.targetIndex)
    .u32(delta.targetTimestamp)
    .put(delta.fullTargetId);
  header.u64(BigInt(end)).u32(diffs.length).u16(delta.solidEntryPoints.length);
  yield header.finish();
  yield* diffs;
  yield* delta.solidEntryPoints;
}

function outputRecord({
  outputId,
  blockId,
  bookedIndex,
  bookedTimestamp,
  bytes,
}: LedgerOutput): Uint8Array {
  const writer = new Writer().put(outputId).put(blockId).u32(bookedIndex).u32(bookedTimestamp);
  return writer.u32(bytes.length).put(bytes).finish();
}

function diffRecord({ payload, spentTreasury, created, consumed }: WrittenDiff): Uint8Array {
  const body = new Writer().u32(payload.length).put(payload);
  if (spentTreasury !== undefined) body.put(spentTreasury.milestoneId).u64(spentTreasury.amount);
  body.u32(created.length);
  for (const each of created) body.put(outputRecord(each));
  body.u32(consumed.length);
  for (const each of consumed) body.put(outputRecord(each)).put(new Uint8Array(32).fill(0x5a));
  return new Writer()
    .u32(4 + body.length)
    .put(body.finish())
    .finish();
}
