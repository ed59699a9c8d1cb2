/**
 * Full snapshots of any size, for imports that take a while. With 1,000,000 outputs it is the one
 * that docs/operations.md has figures of.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import type { Address } from '../../../src/stardust/wire/address.ts';
import { decodeOutput } from '../../../src/stardust/wire/ids.ts';
import { output } from '../../../src/stardust/wire/output.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { madeId, madeOutput, writeFull } from '../snapshot/snapshot-writer.ts';

const AMOUNT = 1_000_000n;
const TREASURY = 5n;
export const MADE_INDEX = 10;
const TIMESTAMP = 1_700_000_000;
const NFT_EVERY = 10;
export const MADE_HOLDER: Address = { type: 0, id: madeId(1, 0) };

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

function* madeOutputs(count: number, ofOne: number) {
  for (let i = 0; i < count; i++) {
    const made = madeOutput(i, AMOUNT, MADE_INDEX, TIMESTAMP, NFT_EVERY);
    if (i >= ofOne) yield made;
    else {
      const value = decodeOutput(made.bytes);
      const unlockConditions = [{ type: 0 as const, address: MADE_HOLDER }];
      yield { ...made, bytes: encode(output, { ...value, unlockConditions }) };
    }
  }
}
