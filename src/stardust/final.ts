/**
 * Proofs about the last ledger of a network (docs/final-ledger.md). The subpath `/final` of the
 * package (README.md).
 */
import { StardustError } from './error.ts';
import { KEY_BYTES, verifyFinalProof } from './proof/final-ledger.ts';
import { decodeLedgerOutput, type LedgerOutput } from './wire/ledger-output.ts';

/** Query of a final ledger. */
export interface FinalQuery<Tree extends 'nfts' | 'outputs'> {
  tree: Tree;
  /** 32 bytes of an NFT (B.6), 34 of an output (B.4). */
  id: Uint8Array;
  /** The final root, 32 bytes, from a source that the caller trusts. Never from a node. */
  root: Uint8Array;
}

/** The output that holds the NFT. */
export type FinalNft = { present: true; outputId: Uint8Array } | { present: false };
export type FinalOutput = { present: true; output: LedgerOutput } | { present: false };

/**
 * Returns what a final ledger has under an ID, or that it has nothing there. Throws a StardustError
 * of rule B.13 if the answer proves neither.
 *
 * @param answer untrusted JSON, as `/api/edge/v1/final/TREE/ID` answers it
 *
 * @example
 * ```ts
 * import { verifyFinal } from '@stardust-edge/protocol/final';
 * import { decodeOutput, type Output } from '@stardust-edge/protocol/output';
 *
 * export function outputIn(answer: unknown, id: Uint8Array, root: Uint8Array): Output | undefined {
 *   const found = verifyFinal(answer, { tree: 'outputs', id, root });
 *   return found.present ? decodeOutput(found.output.bytes) : undefined;
 * }
 * ```
 */
export function verifyFinal(answer: unknown, query: FinalQuery<'nfts'>): FinalNft;
export function verifyFinal(answer: unknown, query: FinalQuery<'outputs'>): FinalOutput;
export function verifyFinal(
  answer: unknown,
  { tree, id, root }: FinalQuery<'nfts' | 'outputs'>,
): FinalNft | FinalOutput {
  const verdict = verifyFinalProof(answer, tree, id, root);
  if (!verdict.ok) throw new StardustError('B.13', verdict.reason);
  if (!verdict.present) return { present: false };
  return tree === 'nfts'
    ? { present: true, outputId: verdict.record.subarray(KEY_BYTES.nfts) }
    : { present: true, output: decodeLedgerOutput(verdict.record) };
}

export {
  type FinalLedger,
  type FinalTree,
  finalLedgerFromJson,
  finalRoot,
  GrowingTree,
  KEY_BYTES,
  nftRecord,
} from './proof/final-ledger.ts';
export {
  decodeLedgerOutput,
  LEDGER_OUTPUT_HEAD_LENGTH,
  type LedgerOutput,
  ledgerOutputHead,
  putLedgerOutput,
} from './wire/ledger-output.ts';
