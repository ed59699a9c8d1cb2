/**
 * How page and command line put what was proved: of proofs, and of nothing else. English and UTC,
 * whatever the reader's settings: a verdict that is shared says the same to everybody.
 */
import type { NftState } from './certificate.ts';
import type { MilestoneOutcome } from './cone.ts';
import type { MilestoneFacts, SignedMilestone } from './milestone.ts';
import { type Proved, provedValue } from './proved.ts';

/** @param seconds Unix time */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: 'UTC',
  });
}

/** The largest unit that fits, such as "4 years". */
export function formatAge(seconds: number): string {
  const units = [
    ['year', 31_557_600],
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
    ['second', 1],
  ] as const;
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? ['second', 1];
  const count = Math.max(0, Math.floor(seconds / length));
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}

/** Unix seconds. */
type SignedTime = Pick<MilestoneFacts, 'timestamp'>;

/** Twelve milestones of five seconds: a ledger that follows its network is not further behind. */
const LIVE_SECONDS = 60;

/** Whether it was signed just now, by the reader's clock. */
export function isLive({ timestamp }: SignedTime, now: number): boolean {
  return Math.abs(now - timestamp) <= LIVE_SECONDS;
}

/** How old the signed time is: "signed, but 4 years old". @param now Unix seconds */
export function describeSignedAge(milestone: SignedTime, now: number): string {
  const age = now - milestone.timestamp;
  if (isLive(milestone, now)) return `signed ${formatAge(age)} ago`;
  return age < 0
    ? `signed for a time ${formatAge(-age)} from now: one of the clocks is wrong`
    : `signed, but ${formatAge(age)} old`;
}

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

/** The verdict on a node, and what it does not say. @param now Unix seconds */
export function describeVerdict(proof: Proved<MilestoneOutcome>, now: number): string {
  const { milestone, blockIds, applied } = provedValue(proof);
  const { index, timestamp, whose } = milestone;
  return `Verified: milestone ${index} of ${formatTime(timestamp)} UTC (${describeSignedAge(milestone, now)}), with its ${blockIds.length} blocks and ${applied.size} applied transactions, against ${whose}. Not checked: NFTs, outputs and owners, and whether there is a newer milestone.`;
}
