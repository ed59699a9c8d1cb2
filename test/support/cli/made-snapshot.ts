/**
 * Full snapshots of any size, for imports that take a while. With 1,000,000 outputs it is the one
 * that docs/operations.md has figures of.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { concatBytes } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import type { Address } from '../../../src/stardust/wire/address.ts';
import { outputBytes } from '../../../src/stardust/wire/ids.ts';
import type { LedgerOutput } from '../../../src/stardust/wire/ledger-output.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { basic, metadata, nft, ZERO } from '../payloads/outputs.ts';
import { writeFull } from '../snapshot/snapshot-writer.ts';

const AMOUNT = 1_000_000n;
const TREASURY = 5n;
export const MADE_INDEX = 10;
const TIMESTAMP = 1_700_000_000;
const NFT_EVERY = 10;
const ownerOf = (number: number): Address => ({ type: 0, id: madeId(1, number) });
export const MADE_HOLDER = ownerOf(0);

/** Bytes written at once. */
const CHUNK = 1 << 20;

/**
 * A full snapshot of a network `made` at milestone {@link MADE_INDEX}; a tenth are NFTs.
 *
 * @param ofOne how many outputs belong to the address {@link MADE_HOLDER}; each other has its own
 */
export function madeSnapshot(outputs: number, ofOne = 0): Generator<Uint8Array, void> {
  const parameters = encode(protocolParameters, {
    version: 2,
    networkName: 'made',
    bech32Hrp: 'mde',
    minPowScore: 0,
    belowMaxDepth: 15,
    rentStructure: { vByteCost: 100, vByteFactorData: 1, vByteFactorKey: 10 },
    tokenSupply: BigInt(outputs) * AMOUNT + TREASURY,
  });
  return writeFull({
    genesisIndex: 0,
    target: { index: MADE_INDEX, timestamp: TIMESTAMP, id: madeId(9, MADE_INDEX) },
    ledgerIndex: MADE_INDEX,
    treasury: { milestoneId: new Uint8Array(32), amount: TREASURY },
    parameters,
    parametersTarget: 0,
    outputCount: outputs,
    outputs: madeOutputs(outputs, ofOne),
    diffs: [],
    solidEntryPoints: [madeId(10, MADE_INDEX)],
  });
}

export function writeMadeSnapshot(path: string, outputs: number): void {
  const descriptor = openSync(path, 'w');
  let pending: Uint8Array[] = [];
  let length = 0;
  const flush = () => {
    writeSync(descriptor, Buffer.concat(pending));
    pending = [];
    length = 0;
  };
  for (const part of madeSnapshot(outputs)) {
    pending.push(part);
    length += part.length;
    if (length >= CHUNK) flush();
  }
  flush();
  closeSync(descriptor);
}

/** 32 bytes that are different for each kind and number. */
function madeId(kind: number, number: number): Uint8Array {
  const id = new Uint8Array(32);
  const view = new DataView(id.buffer);
  for (let at = 0; at < 32; at += 4)
    view.setUint32(at, Math.imul(number + 1, 0x9e3779b1 + 2 * at) ^ (kind << 16));
  view.setUint32(4, number);
  view.setUint8(8, kind);
  return id;
}

/** Half of the NFTs are new ones, whose ID is that of the output. */
function* madeOutputs(count: number, ofOne: number): Generator<LedgerOutput, void> {
  for (let i = 0; i < count; i++) {
    const owner = i < ofOne ? MADE_HOLDER : ownerOf(i);
    const nftId = i % (2 * NFT_EVERY) === 0 ? ZERO : madeId(2, i);
    const immutable = [metadata(madeId(3, i))];
    const of = { amount: AMOUNT };
    const value = i % NFT_EVERY === 0 ? nft(owner, { ...of, nftId, immutable }) : basic(owner, of);
    yield {
      outputId: concatBytes(madeId(4, i), new Uint8Array(2)),
      blockId: madeId(5, i),
      bookedIndex: MADE_INDEX,
      bookedTimestamp: TIMESTAMP,
      bytes: outputBytes(value),
    };
  }
}
