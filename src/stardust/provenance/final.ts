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
  KEY_BYTES,
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

/** What a final ledger has under an ID. */
export type FinalRecord =
  | { tree: FinalTreeName; id: string; present: false }
  | { tree: 'nfts'; id: string; present: true; outputId: string }
  | { tree: 'outputs'; id: string; present: true; output: Output; bookedTimestamp: number };

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
    if (tree === 'nfts') {
      const found = verifyFinal(answer, { tree, id: key, root });
      return prove<FinalRecord>(
        found.present
          ? { tree, id, present: true, outputId: toHex(found.outputId) }
          : { tree, id, present: false },
      );
    }
    const found = verifyFinal(answer, { tree, id: key, root });
    return prove<FinalRecord>(
      found.present
        ? {
            ...{ tree, id, present: true, output: decodeOutput(found.output.bytes) },
            bookedTimestamp: found.output.bookedTimestamp,
          }
        : { tree, id, present: false },
    );
  } catch (error) {
    if (!(error instanceof StardustError)) throw error;
    return refute(`${tree === 'nfts' ? 'NFT' : 'output'} ${id}: ${error.reason}`);
  }
}
