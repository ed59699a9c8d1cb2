/** Keys that may sign milestones, and their signatures (TIP-0029; docs/protocol.md, M-2 to M-5). */
import { equalBytes, toHex, toHexDigits } from './encoding/bytes.ts';
import type { ParsedBlock } from './wire/block.ts';
import type { Milestone } from './wire/milestone.ts';

export interface MilestoneKey {
  /** 32 bytes. */
  publicKey: Uint8Array;
  /** Index of the first milestone that the key may sign. */
  first: number;
  /** Index of the last; 0 if there is no last (M-4). */
  last: number;
}

export interface MilestoneKeys {
  keys: readonly MilestoneKey[];
  /** The least number of signatures, 1 or more. */
  threshold: number;
}

/** Decides whether an Ed25519 signature is valid by ZIP-215 (ed25519.ts). */
export type VerifySignature = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => Promise<boolean>;

/** Rules by which milestones are verified. */
export interface MilestoneRules {
  keys: MilestoneKeys;
  verify: VerifySignature;
}

/**
 * Returns why the milestone is not properly signed, undefined if it is. M-2: enough keys may sign,
 * and enough did, each counted once. M-3: every signature is valid and by a key that may sign.
 * Throws a RangeError if the threshold is not an integer of 1 or more: any milestone would do.
 */
export async function signatureFault(
  milestone: Milestone,
  milestoneId: Uint8Array,
  { keys, threshold }: MilestoneKeys,
  verify: VerifySignature,
): Promise<string | undefined> {
  if (!Number.isSafeInteger(threshold) || threshold < 1)
    throw new RangeError(`the threshold must be an integer of 1 or more, not ${threshold}`);
  const { index, signatures } = milestone;
  const applicable = new Set(
    keys
      .filter(({ first, last }) => first <= index && (last === 0 || last >= index))
      .map((key) => toHexDigits(key.publicKey)),
  );
  if (applicable.size < threshold)
    return `M-2: ${applicable.size} keys may sign, threshold ${threshold}`;
  const signers = new Set(signatures.map(({ publicKey }) => toHexDigits(publicKey)));
  if (signers.size < threshold) return `M-2: ${signers.size} keys signed, threshold ${threshold}`;
  for (const { publicKey, signature } of signatures) {
    if (!applicable.has(toHexDigits(publicKey)))
      return `M-3: signed by ${toHex(publicKey)}, which may not sign milestone ${index}`;
    if (!(await verify(publicKey, milestoneId, signature)))
      return `M-3: signature of ${toHex(publicKey)} is not valid`;
  }
  return undefined;
}

/**
 * Returns whether the block counts as that of its milestone: it has the payload's parents (M-5),
 * and the milestone is properly signed (M-2, M-3).
 */
export async function isMilestoneBlock(
  parsed: ParsedBlock,
  keys: MilestoneKeys,
  verify: VerifySignature,
): Promise<boolean> {
  const milestone = parsed.milestone;
  if (milestone === undefined || !carriesMilestone(parsed.block.parents, milestone.value.parents))
    return false;
  return (await signatureFault(milestone.value, milestone.id, keys, verify)) === undefined;
}

/** M-5: the parents of a block with a milestone are the milestone's, or the first of them. */
export function carriesMilestone(
  blockParents: readonly Uint8Array[],
  milestoneParents: readonly Uint8Array[],
): boolean {
  return (
    blockParents.length <= milestoneParents.length &&
    blockParents.every((parent, i) => equalBytes(parent, milestoneParents[i]!))
  );
}
