/**
 * The white flag of the library, for vectors: blocks and outputs as they are, without records and
 * numbers.
 */
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { type WhiteFlagInput, whiteFlag } from '../../src/stardust/white-flag.ts';
import { signedMilestones } from './product-white-flag.ts';
import type { ComputeWhiteFlag, WhiteFlagCase } from './white-flag.ts';

/** Parents that are not among the blocks count as referenced, and every milestone as signed. */
export function whiteFlagInput(given: WhiteFlagCase): WhiteFlagInput {
  const { blocks, unspent, spent, index, timestamp } = given;
  return {
    blocks: blocks.values(),
    milestone: {
      index,
      timestamp,
      parents: given.parents.map(fromHex),
      previousMilestoneId: fromHex(given.previousMilestoneId),
    },
    isReferenced: (id) => !blocks.has(toHex(id)),
    output(id) {
      const bytes = unspent.get(toHex(id));
      if (bytes !== undefined) return { spent: false, bytes };
      return spent.has(toHex(id)) ? { spent: true } : undefined;
    },
    genesisIndex: given.genesisMilestoneIndex,
    ...signedMilestones(given),
  };
}

export const libraryWhiteFlag: ComputeWhiteFlag = async (given) => {
  const { order, ...roots } = await whiteFlag(whiteFlagInput(given));
  return {
    order: order.map(({ blockId, fault }) => ({
      blockId: toHex(blockId),
      isTransaction: given.blocks.get(toHex(blockId))!.transaction !== undefined,
      conflictReason: fault?.reason ?? 0,
    })),
    inclusionMerkleRoot: toHex(roots.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(roots.appliedMerkleRoot),
    metPreviousMilestone: true,
  };
};
