/** Decodes milestone payloads (A.10), with their IDs. */
import { decode } from '../encoding/codec.ts';
import { milestoneId } from './ids.ts';
import { type Milestone, milestone } from './milestone.ts';

export interface DecodedMilestone {
  /** Decoded payload, whose byte fields are views of it. */
  value: Milestone;
  /** 32 bytes (B.9), which the signatures sign. */
  id: Uint8Array;
}

/**
 * Decodes a milestone payload in binary form (A.10), with type and signatures. Whether it is signed
 * is not checked: see `signatureFault`. Throws a StardustError if the bytes are none.
 *
 * @example
 * ```ts
 * import { decodeMilestone, type MilestoneKeys, signatureFault } from '@stardust-edge/protocol/milestone';
 * import { verifyEd25519 } from '@stardust-edge/protocol/ed25519';
 *
 * export async function signedTime(payload: Uint8Array, keys: MilestoneKeys): Promise<Date> {
 *   const { value, id } = decodeMilestone(payload);
 *   const fault = await signatureFault(value, id, keys, verifyEd25519);
 *   if (fault !== undefined) throw new Error(fault);
 *   return new Date(1000 * value.timestamp);
 * }
 * ```
 */
export function decodeMilestone(payload: Uint8Array): DecodedMilestone {
  const value = decode(milestone, payload);
  return { value, id: milestoneId(value, payload) };
}
