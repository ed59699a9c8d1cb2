/**
 * Judges what a node says of a final ledger (docs/final-ledger.md), by a final root that the reader
 * took from a source of trust.
 */
import { equalBytes, toHex } from '../encoding/bytes.ts';
import { StardustError } from '../error.ts';
import { verifyFinal } from '../final.ts';
import {
  type FinalLedger,
  type FinalTreeName,
  finalLedgerFromJson,
  finalRoot,
  jsonObject,
  KEY_BYTES,
  requireLedger,
} from '../proof/final-ledger.ts';
import { decodeOutput } from '../wire/ids.ts';
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
    if (!(error instanceof StardustError)) throw error;
    return refute(`what the final root commits to: ${error.reason}`);
  }
}

/** What a final ledger has under an ID. The root has the name of its network, too. */
export type FinalRecord = { networkName: string; id: string } & (
  | { tree: FinalTreeName; present: false }
  | { tree: 'nfts'; present: true; outputId: string }
  | { tree: 'outputs'; present: true; output: Output; bookedTimestamp: number }
);

/**
 * Whether the ledger has an output or an NFT, or has not, and what it has.
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
    const record = readRecord(answer, tree, key, root);
    const { networkName } = requireLedger(jsonObject(answer).ledger, root);
    return prove({ networkName, id, ...record });
  } catch (error) {
    if (!(error instanceof StardustError)) throw error;
    return refute(`${tree === 'nfts' ? 'NFT' : 'output'} ${id}: ${error.reason}`);
  }
}

function readRecord(answer: unknown, tree: FinalTreeName, id: Uint8Array, root: Uint8Array) {
  if (tree === 'nfts') {
    const found = verifyFinal(answer, { tree, id, root });
    return found.present
      ? { tree, present: true as const, outputId: toHex(found.outputId) }
      : { tree, present: false as const };
  }
  const found = verifyFinal(answer, { tree, id, root });
  if (!found.present) return { tree, present: false as const };
  const { bytes, bookedTimestamp } = found.output;
  return { tree, present: true as const, output: decodeOutput(bytes), bookedTimestamp };
}
