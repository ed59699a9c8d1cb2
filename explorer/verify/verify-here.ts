/**
 * `stardust-edge verify`, in the browser: the same checks of the same modules, against the node
 * that the page comes from.
 */

import type { MilestoneOutcome, Proved } from '../../src/stardust/provenance/provenance.ts';
import { NotVerified } from '../../verifier/node-client.ts';
import { type Listener, verifyNode } from '../../verifier/verify-node.ts';
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
