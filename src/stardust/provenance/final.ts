/**
 * Judges answers about a final ledger (docs/final-ledger.md), by a final root from a source that
 * the reader trusts. The subpath `/final-record` of the package (../README.md).
 */
import { equalBytes, toHex } from '../encoding/bytes.ts';
import { caughtRefusal, StardustError } from '../error.ts';
import {
  type FinalLedger,
  type FinalTreeName,
  finalLedgerFromJson,
  finalRoot,
  jsonObject,
  KEY_BYTES,
  requireLedger,
  verifyFinalProof,
} from '../proof/final-ledger.ts';
import { decodeOutput } from '../wire/ids.ts';
import { decodeLedgerOutput } from '../wire/ledger-output.ts';
import type { Output } from '../wire/output.ts';
import { type Finding, prove, refute } from './proved.ts';

/** The tree that a 0x… ID belongs to; undefined if it is neither an output ID nor an NFT ID. */
export function treeOfId(id: string): FinalTreeName | undefined {
  if (!/^0x[0-9a-fA-F]*$/.test(id)) return undefined;
  return (['outputs', 'nfts'] as const).find((tree) => id.length === 2 + 2 * KEY_BYTES[tree]);
}

/** @param json what a node says that the root commits to */
export function proveFinalLedger(json: unknown, root: Uint8Array): Finding<FinalLedger> {
  try {
    const ledger = finalLedgerFromJson(json);
    return equalBytes(finalRoot(ledger), root)
      ? prove(ledger)
      : refute(`the node has the final root ${toHex(finalRoot(ledger))}`);
  } catch (error) {
    return refute(`what the final root commits to: ${caughtRefusal(error).reason}`);
  }
}

/** Record of a final ledger under an ID. The root has the name of its network, too. */
export type FinalRecord = { networkName: string; id: string } & (
  | { tree: FinalTreeName; present: false }
  | { tree: 'nfts'; present: true; outputId: string }
  | { tree: 'outputs'; present: true; output: Output; bookedTimestamp: number }
);

/**
 * Judges whether the ledger has an output or an NFT, or has not, and what it has.
 *
 * @param answer JSON of a node
 * @param key the ID: 34 bytes of an output, 32 of an NFT
 */
export function proveFinalRecord(
  answer: unknown,
  tree: FinalTreeName,
  key: Uint8Array,
  root: Uint8Array,
): Finding<FinalRecord> {
  const id = toHex(key);
  try {
    const verdict = verifyFinalProof(answer, tree, key, root);
    if (!verdict.ok) throw new StardustError('B.13', verdict.reason);
    const { networkName } = requireLedger(jsonObject(answer).ledger, root);
    const known = { networkName, id };
    if (!verdict.present) return prove({ ...known, tree, present: false });
    const { record } = verdict;
    if (tree === 'nfts') {
      const outputId = toHex(record.subarray(KEY_BYTES.nfts));
      return prove({ ...known, tree, present: true, outputId });
    }
    const { bytes, bookedTimestamp } = decodeLedgerOutput(record);
    return prove({ ...known, tree, present: true, output: decodeOutput(bytes), bookedTimestamp });
  } catch (error) {
    return refute(`${tree === 'nfts' ? 'NFT' : 'output'} ${id}: ${caughtRefusal(error).reason}`);
  }
}

export { type Finding, type Proved, provedValue, tell } from './proved.ts';
