/**
 * Writes snapshot files (docs/snapshot-format.md). It shares no layouts with the reader that it is
 * used to test.
 *
 * Everything is streamed, so that files of any size can be written.
 */
import { Writer } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import type { LedgerOutput } from '../../../src/stardust/wire/ledger-output.ts';
import { type Output, OutputType, output } from '../../../src/stardust/wire/output.ts';
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

/** 32 bytes that are different for each kind and number. */
export function madeId(kind: number, number: number): Uint8Array {
  const id = new Uint8Array(32);
  const view = new DataView(id.buffer);
  for (let at = 0; at < 32; at += 4)
    view.setUint32(at, Math.imul(number + 1, 0x9e3779b1 + 2 * at) ^ (kind << 16));
  view.setUint32(4, number);
  view.setUint8(8, kind);
  return id;
}

/** The `number`-th of a made-up sequence of outputs: an NFT every `nftEvery`, else basic. */
export function madeOutput(
  number: number,
  amount: bigint,
  bookedIndex: number,
  bookedTimestamp: number,
  nftEvery: number,
): LedgerOutput {
  const unlockConditions: Output['unlockConditions'] = [
    { type: 0, address: { type: 0, id: madeId(1, number) } },
  ];
  const common = { amount, nativeTokens: [], unlockConditions, features: [] };
  // half of the NFTs are new ones, whose ID is that of the output
  const nftId = number % (2 * nftEvery) === 0 ? new Uint8Array(32) : madeId(2, number);
  const value: Output =
    number % nftEvery === 0
      ? {
          ...common,
          type: OutputType.Nft,
          nftId,
          immutableFeatures: [{ type: 2, data: madeId(3, number) }],
        }
      : { ...common, type: OutputType.Basic };
  const outputId = new Uint8Array(34);
  outputId.set(madeId(4, number));
  return {
    outputId,
    blockId: madeId(5, number),
    bookedIndex,
    bookedTimestamp,
    bytes: encode(output, value),
  };
}
