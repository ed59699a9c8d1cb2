/**
 * A milestone that nobody signed, told without a contradiction: its cone, its roots, its bytes and
 * its proofs agree. Only the signatures can show that it is made up.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { merkleRoot } from '../../../src/stardust/proof/merkle.ts';
import { milestoneId } from '../../../src/stardust/wire/ids.ts';
import { type Milestone, milestone } from '../../../src/stardust/wire/milestone.ts';
import type { Rule } from './lying-node.ts';
import { inJson, inMilestone, type Json, withField } from './rules.ts';
import { ANY_MILESTONE, APPLIED, EXPLANATION, PROPOSAL } from './sample-paths.ts';

/** The root without the first of the applied blocks. */
const FORGED_ROOT = toHex(merkleRoot(APPLIED.slice(1).map(fromHex)));

/** That block, at place 3, is called a conflict. */
function forge(explanation: Json): void {
  explanation.appliedMerkleRoot = FORGED_ROOT;
  Object.assign(explanation.blocks[3], {
    ledgerInclusionState: 'conflicting',
    conflictReason: 1,
    explanation: 'the referenced input was already spent',
    rule: 'L-1',
  });
}

/** A false verdict and its root, wherever the milestone is told in JSON. */
export const forgedInJson: readonly Rule[] = [
  inJson(EXPLANATION, forge),
  withField(ANY_MILESTONE, 'appliedMerkleRoot', FORGED_ROOT),
];

export const forgedProposal: Rule = inJson(PROPOSAL, forge);

/** @param strangers how many signatures are made anew, with keys that nobody has heard of */
export function forgedBytes(strangers = 0): Rule {
  return inMilestone(ANY_MILESTONE, (value) =>
    signedByStrangers({ ...value, appliedMerkleRoot: fromHex(FORGED_ROOT) }, strangers),
  );
}

/** The milestone, signed by as many strangers in place of as many of its signers. */
export function signedByStrangers(value: Milestone, strangers: number): Milestone {
  const id = milestoneId(value, encode(milestone, value));
  const signatures = value.signatures.map((own, i) => {
    if (i >= strangers) return own;
    const secret = new Uint8Array(32).fill(7 + i);
    return { ...own, publicKey: ed25519.getPublicKey(secret), signature: ed25519.sign(id, secret) };
  });
  signatures.sort((a, b) => (a.publicKey.toHex() < b.publicKey.toHex() ? -1 : 1));
  return { ...value, signatures };
}
