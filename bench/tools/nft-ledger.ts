/**
 * A ledger of NFTs in D1 as an import leaves it: with their outputs and lists. Each address holds a
 * hundred of them.
 */

import type { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import { forEachPiece, runBatch } from '../../src/ledger/core/database.ts';
import { insertParameters } from '../../src/ledger/core/ledger-parameters.ts';
import { splitContents, writeOutputBytes } from '../../src/ledger/core/output-bytes.ts';
import { moveFingerprints, rowSum } from '../../src/ledger/core/row-sum.ts';
import { insertHead, insertMilestone } from '../../src/ledger/core/write-head.ts';
import { insertListRows, listRow } from '../../src/ledger/output-list/list-rows.ts';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { encode } from '../../src/stardust/encoding/codec.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import { type NftOutput, OutputType, output } from '../../src/stardust/wire/output.ts';
import { protocolParameters } from '../../src/stardust/wire/parameters.ts';
import { testHead, testMilestone } from '../../test/support/ledger/test-head.ts';
import { holder, LEDGER_INDEX, nftId } from './nft-index.ts';

export const PREFIX = 'tst';

/** NFTs of one address. */
export const HELD = 100;

/** Of a collection; the length of what Soonaverse wrote. */
const METADATA = new Uint8Array(1000).fill(0x20);

const PIECE = 1000;

/** Unix seconds. */
const FIRST_TIME = 1_700_000_000;

export function addressOf(number: number): Address {
  return { type: AddressType.Ed25519, id: blake2b256(new TextEncoder().encode(`owner ${number}`)) };
}

function outputOf(number: number, count: number): NftOutput {
  const owner = addressOf(number % (count / HELD));
  return {
    type: OutputType.Nft,
    amount: 1_000_000n,
    nativeTokens: [],
    nftId: Uint8Array.fromHex(nftId(number)),
    unlockConditions: [{ type: 0, address: owner }],
    features: [],
    immutableFeatures: [
      { type: 1, address: addressOf(-1 - (number % 100)) },
      { type: 2, data: METADATA },
    ],
  };
}

const INSERT_OUTPUTS = `
  INSERT INTO output (id, bytes, rest, chain, block, created, created_time, sum)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, '', 1, value ->> 4, value ->> 5
  FROM json_each(?1)`;

const INSERT_RESTS =
  'INSERT INTO output_rest (key, bytes) SELECT value ->> 0, value ->> 1 FROM json_each(?1)';

const INSERT_NFTS =
  'INSERT INTO nft (id, output, changed) SELECT value ->> 0, value ->> 1, 1 FROM json_each(?1)';

export async function fillNftLedger(db: SqliteDatabase, count: number): Promise<void> {
  const parameters = encode(protocolParameters, {
    version: 2,
    networkName: 'bench',
    bech32Hrp: PREFIX,
    minPowScore: 0,
    belowMaxDepth: 15,
    rentStructure: { vByteCost: 0, vByteFactorData: 0, vByteFactorKey: 0 },
    tokenSupply: 1n,
  });
  const option = { targetMilestoneIndex: 0, protocolVersion: 2, parameters };
  await runBatch(db, [
    insertHead(db, testHead('bench', 1, LEDGER_INDEX)),
    insertMilestone(db, testMilestone(LEDGER_INDEX, FIRST_TIME + count)),
    insertParameters(db, moveFingerprints({ fingerprints: {} }), { type: 1, ...option }),
  ]);
  for (let at = 0; at < count; at += PIECE) {
    const rows = Array.from({ length: PIECE }, (_, i) => {
      const number = at + i;
      const time = FIRST_TIME + Math.floor(number / 5);
      const value = outputOf(number, count);
      const contents = splitContents(writeOutputBytes(encode(output, value)));
      return { id: holder(number), value, nft: nftId(number), time, key: number, ...contents };
    });
    await runBatch(db, [
      ...forEachPiece(
        db,
        INSERT_OUTPUTS,
        rows.map(({ id, start, key, nft, time }) => {
          return [id, start, key, nft, time, rowSum([id, nft, '', 1, time])];
        }),
      ),
      ...forEachPiece(
        db,
        INSERT_RESTS,
        rows.map(({ key, rest }) => [key, rest]),
      ),
      ...forEachPiece(
        db,
        INSERT_NFTS,
        rows.map(({ id, nft }) => [nft, id]),
      ),
      ...insertListRows(
        db,
        rows.map(({ id, value, time }) => listRow(value, id, time)),
      ),
    ]);
  }
}
