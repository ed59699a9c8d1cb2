/**
 * `stardust-edge verify`, in the browser: the same checks of the same modules, against the node
 * that the page comes from.
 */

import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { provedValue } from '../../src/stardust/provenance/proved.ts';
import type {
  FinalRecord,
  Finding,
  MilestoneOutcome,
  Proved,
} from '../../src/stardust/provenance/provenance.ts';
import { askFinalRecord, proveFinalRecords } from '../../verifier/verify-final.ts';
import { type Listener, NotVerified, verifyNode } from '../../verifier/verify-node.ts';
import { askHere } from '../node/ask.ts';
import type { KeyChoice } from './describe-keys.ts';
import { trustOf } from './judge.ts';

export { NotVerified };

/**
 * Resolves to what was proved. Throws a {@link NotVerified} for the first answer that is refuted,
 * and an Error if the keys are no keys or the node does not answer.
 */
export function verifyHere(
  choice: KeyChoice,
  listener: Listener,
): Promise<Proved<MilestoneOutcome>> {
  return verifyNode(askHere, trustOf(choice), Math.random(), listener);
}

/** @param root 0x and 64 hex digits */
export function parseRoot(root: string): Uint8Array {
  if (!/^0x[0-9a-fA-F]{64}$/.test(root)) throw new Error('The root must be 0x and 64 hex digits');
  return fromHex(root);
}

/**
 * Yields what the final root proves of the ledger and of an ID, and throws as {@link verifyHere}.
 *
 * @param root 0x and 64 hex digits, from a source that the visitor trusts
 * @param id of an output or an NFT, 0x…
 */
export async function* verifyFinalHere(
  root: string,
  id: string,
): AsyncGenerator<Proved<string>, void> {
  yield* proveFinalRecords(askHere, parseRoot(root), [id]);
}

/** An output that the final root commits to, whole: that of an NFT, or the one with the ID. */
export async function finalOutputHere(root: string, id: string): Promise<Finding<FinalRecord>> {
  const trusted = parseRoot(root);
  const record = await askFinalRecord(askHere, trusted, id);
  if (record.standing !== 'proved') return record;
  const value = provedValue(record.proof);
  return value.tree === 'nfts' && value.present
    ? askFinalRecord(askHere, trusted, toHex(fromHex(value.outputId)))
    : record;
}
