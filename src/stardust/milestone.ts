/** Milestones: bytes, JSON and signatures. The subpath `/milestone` of the package (README.md). */
import { encodeChecked } from './encoding/codec.ts';
import { type Milestone, milestone } from './wire/milestone.ts';

/** The payload's bytes. Throws a StardustError if `decodeMilestone` would refuse them. */
export function encodeMilestone(value: Milestone): Uint8Array {
  return encodeChecked(milestone, value);
}

export { milestoneFromJson, milestoneToJson } from './json/rest-json.ts';
export {
  type MilestoneKey,
  type MilestoneKeys,
  signatureFault,
  type VerifySignature,
} from './milestone-keys.ts';
export { type DecodedMilestone, decodeMilestone } from './wire/decode-milestone.ts';
export type {
  Milestone,
  MilestoneOption,
  ProtocolParametersOption,
  ReceiptOption,
} from './wire/milestone.ts';
