/**
 * Verifies the next milestone before anything is done with it
 * (docs/protocol.md#verifying-over-rest-alone; docs/protocol.md, C-M, E.3, E.5 and G).
 */
import type { VerifiedMilestone } from '../ledger/write/milestone-changes.ts';
import { toHexDigits } from '../stardust/encoding/bytes.ts';
import { caughtRefusal } from '../stardust/error.ts';
import { type MilestoneRules, signatureFault } from '../stardust/milestone-keys.ts';
import { type DecodedMilestone, decodeMilestone } from '../stardust/wire/decode-milestone.ts';
import { announcedParameters } from '../stardust/wire/milestone.ts';
import type { LedgerPosition } from './ledger-position.ts';

/** The upstream is on another chain, or says what cannot be. The message is for logs and health. */
export class Divergence extends Error {
  override readonly name = 'Divergence';
}

/**
 * Throws a Divergence unless the payload is the milestone after the ledger's, signed by enough of
 * the keys, and accepted by the reference.
 *
 * @param received the payload, its type number first
 */
export async function verifyMilestone(
  received: Uint8Array,
  { head, milestone: previous, announced }: Omit<LedgerPosition, 'rules'>,
  { keys, verify }: MilestoneRules,
): Promise<VerifiedMilestone> {
  const index = head.ledger + 1;
  const payload = new Uint8Array(received);
  const { value, id } = parseMilestone(payload, index);
  if (value.index !== index) throw new Divergence(`milestone ${value.index} where ${index} is due`);
  // E.3 (a)
  const isFirst = index === head.genesis + 1;
  if (toHexDigits(value.previousMilestoneId) !== (isFirst ? '0'.repeat(64) : previous.id))
    throw new Divergence(`milestone ${index} does not follow ours`);
  // E.3 (b): the first milestone has none to compare with
  if (!isFirst && value.timestamp <= previous.timestamp)
    throw new Divergence(`milestone ${index} is not after the one before`);
  // M-9: the reference stops at two options of one type
  if (new Set(value.options.map((option) => option.type)).size < value.options.length)
    throw new Divergence(`milestone ${index} has two options of one type`);
  // G: the reference stops at a second announcement for one milestone, even of the same parameters
  const target = announcedParameters(value)?.targetMilestoneIndex;
  if (announced.options.some(({ targetMilestoneIndex }) => targetMilestoneIndex === target))
    throw new Divergence(
      `milestone ${index} announces protocol parameters for milestone ${target}, which has some`,
    );
  const why = await signatureFault(value, id, keys, verify);
  if (why !== undefined) throw new Divergence(`milestone ${index} is not properly signed, ${why}`);
  return { milestone: value, id, payload };
}

function parseMilestone(payload: Uint8Array, index: number): DecodedMilestone {
  try {
    return decodeMilestone(payload);
  } catch (error) {
    throw new Divergence(`milestone ${index} does not parse, ${caughtRefusal(error).reason}`);
  }
}
