/** Blocks of milestones (M-2 to M-5). */
import { verifySignature } from '../../platform/verify-signature.ts';
import { isMilestoneBlock, type MilestoneKeys } from '../../stardust/milestone-keys.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';

/**
 * Returns the index of the milestone that the block carries, properly signed: anybody may send a copy
 * with bad signatures, which has the same milestone ID (B.9). Undefined on a node that knows no keys.
 */
export async function milestoneIndexOf(
  parsed: ParsedBlock,
  keys: MilestoneKeys | undefined,
): Promise<number | undefined> {
  const isMilestone = keys && (await isMilestoneBlock(parsed, keys, verifySignature));
  return isMilestone ? parsed.milestone!.value.index : undefined;
}
