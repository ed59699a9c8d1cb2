/**
 * What a proof file `{milestone, block, proof}` says of its block and its milestone, by the JSON
 * forms of TIP-25 and keys that the caller trusts (docs/protocol.md, B.1, B.13, M-2, M-3).
 *
 * Both are encoded and parsed again. So nothing passes that no node would take: a milestone that
 * one key signed twice, for example.
 */

import { Reader, Refusal } from '../encoding/bytes.ts';
import { decode, encode } from '../encoding/codec.ts';
import { blockFromJson, milestoneFromJson } from '../json/read-rest-json.ts';
import { type MilestoneKeys, signatureFault, type VerifySignature } from '../milestone-keys.ts';
import { block, parseBlock } from '../wire/block.ts';
import { milestoneId } from '../wire/ids.ts';
import { type Milestone, milestone } from '../wire/milestone.ts';
import type { ProofFileReaders } from './proof.ts';

/**
 * The readers throw a {@link Refusal} where the block or milestone is refused, and a `BadJson`
 * where it does not have the form of one.
 *
 * @param keysFor the keys that may sign a milestone
 */
export function proofFileReaders(
  keysFor: (milestone: Milestone) => MilestoneKeys,
  verify: VerifySignature,
): ProofFileReaders {
  return {
    blockId(json) {
      const result = parseBlock(encode(block, blockFromJson(json)));
      if (!result.ok) throw new Refusal('B.13', `block that is refused, ${result.reason}`);
      return result.parsed.id;
    },
    async signedRoots(json) {
      const payload = encode(milestone, milestoneFromJson(json));
      const value = decode(milestone, new Reader(payload));
      const fault = await signatureFault(
        value,
        milestoneId(value, payload),
        keysFor(value),
        verify,
      );
      if (fault !== undefined)
        throw new Refusal('B.13', `milestone that is not properly signed, ${fault}`);
      return value;
    },
  };
}
