/** Judges a milestone payload: by its bytes, and by keys that the reader chose (M-2, M-3, B.9). */
import { toHex } from '../encoding/bytes.ts';
import { caughtRefusal } from '../error.ts';
import { type MilestoneKeys, signatureFault, type VerifySignature } from '../milestone-keys.ts';
import { type DecodedMilestone, decodeMilestone } from '../wire/decode-milestone.ts';
import { type Finding, type Proved, prove, provedValue, refute } from './proved.ts';

/** Keys that may sign, as the reader chose. Never the answer of a node. */
export interface Trust {
  /** Owner of the keys, for people: "the keys of Shimmer". */
  whose: string;
  keys: MilestoneKeys;
  verify: VerifySignature;
}

/** Facts in a milestone payload. Byte strings are 0x and hex digits. */
export interface MilestoneFacts {
  milestoneId: string;
  index: number;
  /** Unix seconds. */
  timestamp: number;
  previousMilestoneId: string;
  /** Block IDs, in the order of the payload. */
  parents: readonly string[];
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
  /** Public keys of all signatures. */
  signers: readonly string[];
}

export interface SignedMilestone extends MilestoneFacts {
  /** Owner of the keys that signed it, as {@link Trust} has it. */
  whose: string;
}

/** Name by which the milestone was asked for. */
export type AskedMilestone = { index: number } | { milestoneId: string };

/** Reads what the bytes say, whoever wrote them, for showing; undefined if nothing. */
export function readMilestoneFacts(payload: Uint8Array): MilestoneFacts | undefined {
  const decoded = decodePayload(payload);
  return 'refused' in decoded ? undefined : milestoneFactsOf(decoded);
}

/**
 * Judges whether these bytes are the milestone that was asked for, signed as the keys demand: every
 * signature valid and by a key that may sign, and enough of them.
 *
 * @param payload in binary form (A.10), with type and signatures
 */
export async function proveMilestone(
  payload: Uint8Array,
  asked: AskedMilestone,
  { whose, keys, verify }: Trust,
): Promise<Finding<SignedMilestone>> {
  const decoded = decodePayload(payload);
  const name = 'index' in asked ? `milestone ${asked.index}` : `milestone ${asked.milestoneId}`;
  if ('refused' in decoded) return refute(`${name} does not parse: ${decoded.refused}`);
  const facts = milestoneFactsOf(decoded);
  if ('index' in asked && facts.index !== asked.index)
    return refute(`the bytes that came for ${name} are those of milestone ${facts.index}`);
  if ('milestoneId' in asked && facts.milestoneId !== asked.milestoneId)
    return refute(`the bytes that came for ${name} are those of ${facts.milestoneId}`);
  const fault = await signatureFault(decoded.value, decoded.id, keys, verify);
  if (fault !== undefined)
    return refute(`milestone ${facts.index} is not signed by ${whose}: ${fault}`);
  return prove({ ...facts, whose });
}

/** Whether two roots that a node answered are those that were signed. */
export function proveSignedRoots(
  signed: Proved<SignedMilestone>,
  answered: Pick<MilestoneFacts, 'inclusionMerkleRoot' | 'appliedMerkleRoot'>,
): Finding<SignedMilestone> {
  const value = provedValue(signed);
  for (const root of ['inclusionMerkleRoot', 'appliedMerkleRoot'] as const)
    if (answered[root] !== value[root])
      return refute(
        `milestone ${value.index} was signed with another ${root === 'appliedMerkleRoot' ? 'applied' : 'inclusion'} root: answered is ${answered[root]}, signed is ${value[root]}`,
      );
  return prove(value);
}

function decodePayload(payload: Uint8Array): DecodedMilestone | { refused: string } {
  try {
    return decodeMilestone(payload);
  } catch (error) {
    return { refused: caughtRefusal(error).reason };
  }
}

function milestoneFactsOf({ value, id }: DecodedMilestone): MilestoneFacts {
  return {
    milestoneId: toHex(id),
    index: value.index,
    timestamp: value.timestamp,
    previousMilestoneId: toHex(value.previousMilestoneId),
    parents: value.parents.map(toHex),
    inclusionMerkleRoot: toHex(value.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(value.appliedMerkleRoot),
    signers: value.signatures.map(({ publicKey }) => toHex(publicKey)),
  };
}
