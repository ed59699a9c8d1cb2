/**
 * The state hash and the final root (docs/final-ledger.md) of the ledger in snapshot files, without
 * a database.
 */

import { verifySignature } from '../../src/platform/verify-signature.ts';
import { compareBytes, equalBytes, toHex, Writer } from '../../src/stardust/encoding/bytes.ts';
import { refusal } from '../../src/stardust/error.ts';
import {
  type FinalLedger,
  finalRoot,
  GrowingTree,
  KEY_BYTES,
  type LedgerOutput,
  nftRecord,
  putLedgerOutput,
} from '../../src/stardust/final.ts';
import type { MilestoneKeys } from '../../src/stardust/milestone.ts';
import { decodeOutput, nftIdOf, OutputType } from '../../src/stardust/output.ts';
import { mergeSnapshot } from '../../src/stardust/snapshot.ts';
import { stateHash } from '../../src/stardust/state-hash.ts';
import { openSnapshotFile } from '../lib/snapshot-file.ts';
import { RecordIndex } from './record-index.ts';

export interface LedgerRoot {
  /** Hex SHA-256 of each file. */
  sha256: { full: string; delta?: string };
  /** SHA-256 (docs/snapshot-format.md#state-hash). */
  stateHash: Uint8Array;
  ledger: FinalLedger;
  /** Protocol parameters: former, current and pending. */
  parameters: Awaited<ReturnType<typeof mergeSnapshot>>['parameters'];
  root: Uint8Array;
}

/** Throws a StardustError if the files break a rule. */
export async function computeLedgerRoot(
  paths: { full: string; delta?: string | undefined },
  keys?: MilestoneKeys,
): Promise<LedgerRoot> {
  const sha256: LedgerRoot['sha256'] = { full: '' };
  const open = (kind: 'full' | 'delta', path: string) =>
    openSnapshotFile(path, (hash) => {
      sha256[kind] = hash;
    });
  const index = new RecordIndex();
  const summary = await mergeSnapshot(
    open('full', paths.full),
    paths.delta === undefined ? undefined : open('delta', paths.delta),
    index,
    keys && { signers: { keys, verify: verifySignature } },
  );
  const outputs = new GrowingTree();
  const nftRecords: Uint8Array[] = [];
  let held = summary.treasury.amount;
  function* hashed(records: Iterable<LedgerOutput>): Generator<LedgerOutput, void> {
    for (const each of records) {
      const writer = new Writer();
      putLedgerOutput(writer, each);
      outputs.add(writer.finish());
      const output = decodeOutput(each.bytes);
      held += output.amount;
      if (output.type === OutputType.Nft)
        nftRecords.push(nftRecord(nftIdOf(output, each.outputId), each.outputId));
      yield each;
    }
  }
  const { ledgerIndex, treasury, milestoneId, currentParameters, parameters } = summary;
  const hash = await stateHash(ledgerIndex, treasury, hashed(index.read(paths)));
  if (BigInt.asUintN(64, held) !== currentParameters.tokenSupply)
    throw refusal('E.5', `outputs and treasury hold ${held} base tokens, not the supply`);
  const nfts = new GrowingTree();
  let last: Uint8Array | undefined;
  for (const record of nftRecords.sort(compareBytes)) {
    const nftId = record.subarray(0, KEY_BYTES.nfts);
    if (last !== undefined && equalBytes(nftId, last))
      throw refusal('E.5', `two unspent outputs hold the NFT ${toHex(nftId)}`);
    last = nftId;
    nfts.add(record);
  }
  const treeOf = (tree: GrowingTree) => ({ count: tree.count, root: tree.root() });
  const ledger = {
    networkName: currentParameters.networkName,
    milestoneIndex: ledgerIndex,
    milestoneId,
    outputs: treeOf(outputs),
    nfts: treeOf(nfts),
  };
  return { sha256, stateHash: hash, ledger, parameters, root: finalRoot(ledger) };
}
