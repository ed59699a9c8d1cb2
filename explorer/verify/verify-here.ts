/**
 * `stardust-edge verify`, in the browser: the same checks of the same modules, against the node
 * that the page comes from.
 */
import { NotVerified } from '../../client/node-client.ts';
import { proveFinalRecords } from '../../client/verify-final.ts';
import { type Listener, verifyNode } from '../../client/verify-node.ts';
import type { MilestoneOutcome, Proved } from '../../src/stardust/provenance/provenance.ts';
import { askHere } from '../node/ask.ts';
import type { KeyChoice } from './describe-keys.ts';
import { parseRoot } from './final-here.ts';
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
