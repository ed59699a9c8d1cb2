/**
 * What was proved of milestones, nodes and NFTs, as page and command line put it: the words are made of
 * proofs, and of nothing else.
 */
import { type Proved, provedValue } from '../../src/stardust/provenance/proved.ts';
import type {
  MilestoneOutcome,
  NftState,
  SignedMilestone,
} from '../../src/stardust/provenance/provenance.ts';
import { describeSignedAge, formatTime } from '../../src/stardust/provenance/words.ts';

/** @param now Unix seconds */
export function describeSigned(proof: Proved<SignedMilestone>, now: number): string {
  return sayOfSigned(provedValue(proof), now);
}

/** Of the milestone at which the ledger was that gave a certificate. */
export function describeHead(proof: Proved<NftState>, now: number): string {
  return sayOfSigned(provedValue(proof).head, now);
}

function sayOfSigned(milestone: SignedMilestone, now: number): string {
  const { index, timestamp, signers, whose } = milestone;
  return `Milestone ${index} of ${formatTime(timestamp)} UTC is signed by ${signers.length} of ${whose}: ${describeSignedAge(milestone, now)}.`;
}

/**
 * What a certificate proves of an NFT: not that it is still there.
 *
 * @param write an ID
 */
export function describeState(proof: Proved<NftState>, write: (id: string) => string): string {
  const { nftId, held, since } = provedValue(proof);
  const came = held === undefined ? 'was burned' : `came to output ${write(held.outputId)}`;
  return `NFT ${write(nftId)} ${came} in milestone ${since.index} of ${formatTime(since.timestamp)} UTC, signed by ${since.signers.length} of ${since.whose}.`;
}

const count = (of: number, noun: string) => `${of} ${noun}${of === 1 ? '' : 's'}`;

/** The verdict on a node, and what it does not say. @param now Unix seconds */
export function describeVerdict(proof: Proved<MilestoneOutcome>, now: number): string {
  const { milestone, blockIds, applied } = provedValue(proof);
  const { index, timestamp, whose } = milestone;
  return `Verified: milestone ${index} of ${formatTime(timestamp)} UTC (${describeSignedAge(milestone, now)}), with its ${count(blockIds.length, 'block')} and ${count(applied.size, 'applied transaction')}, against ${whose}. Not checked: NFTs, outputs and owners, and whether there is a newer milestone.`;
}
